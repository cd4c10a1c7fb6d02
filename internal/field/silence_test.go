package field

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
)

// hangHTTP ends with the request: the body of an answer has nothing to read.
func hangHTTP(ctx context.Context, _ io.ReadWriteCloser) error {
	<-ctx.Done()
	return ctx.Err()
}

// silences: a remote that falls silent ends within the timeout, which names the
// phase, and an interrupt ends the wait at once.
func silences(t *testing.T) []row {
	key := gittest.MakeSSHKey(t, gittest.Ed25519)
	ref := gittest.PktLines(mainA + " refs/heads/main")
	first := ref[:len(ref)-len(gittest.FlushPkt)]
	silent := gittest.ServeTCP(t, gittest.Conversation(gittest.Hang))
	sshSecret := map[string]string{"identity": key.Private, "known_hosts": key.KnownHost(silent.Addr())}
	mute := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Silence()})
	stops := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.HTTPSteps(gittest.ResultType, gittest.Send(first), hangHTTP)})
	drips := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.HTTPSteps(gittest.ResultType, gittest.Drip(bytes.Repeat(first, 100), 10*time.Millisecond))})
	ends := func(what, url string, phase fault.Phase) row {
		r := row{id: 50, what: what, url: url, kind: fault.Timeout, says: []string{string(phase)}}
		if strings.HasPrefix(url, "ssh:") {
			r.secret = sshSecret
		}
		r.config.Timeout = 300 * time.Millisecond
		return r
	}
	hole := ends("a black hole", "https://192.0.2.1/a.git", fault.PhaseDial)
	hole.or = fault.Unavailable // where the system knows that there is no way
	return []row{
		ends("ssh: TCP that never speaks", "ssh://git@"+silent.Addr()+"/a.git", fault.PhaseSSH),
		ends("https: no handshake", "https://"+silent.Addr()+"/a.git", fault.PhaseTLS),
		ends("http: never answers", mute.URL+"/a.git", fault.PhaseAnswer),
		ends("http: one packet, then nothing", stops.URL+"/a.git", fault.PhaseRefs),
		ends("http: a drip", drips.URL+"/a.git", fault.PhaseRefs),
		ends("git: never answers", "git://"+silent.Addr()+"/a.git", fault.PhaseAnswer),
		hole,
		interrupted("ssh: interrupt", "ssh://git@"+silent.Addr()+"/a.git", sshSecret),
		interrupted("http: interrupt", mute.URL+"/a.git", nil),
		interrupted("http: interrupt amid the refs", stops.URL+"/a.git", nil),
	}
}

// interrupted is a row whose reading is cancelled while it waits.
func interrupted(what, url string, secret map[string]string) row {
	r := row{id: 50, what: what, url: url, secret: secret, kind: fault.Canceled, says: []string{"interrupted"}, alone: true}
	r.ours = func(t *testing.T, _ *stack) (gitpoll.Observation, error) {
		s, err := newStack(t, r.config, r.entries(), gitauth.Options{})
		if err != nil {
			return gitpoll.Observation{}, err
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer time.AfterFunc(100*time.Millisecond, cancel).Stop()
		return s.Observe(ctx, branchMain(url), reading.Want{}, true)
	}
	return r
}
