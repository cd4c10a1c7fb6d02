package gitauth

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const fuzzKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"

// FuzzKnownHosts looks for panics, for errors that quote the text, and for
// answers that contradict each other.
func FuzzKnownHosts(f *testing.F) {
	for _, line := range []string{
		"h " + fuzzKey, "[h]:22 " + fuzzKey, "*,!h " + fuzzKey, "@revoked * " + fuzzKey, "@cert-authority h " + fuzzKey + " comment",
		knownhosts.HashHostname("h") + " " + fuzzKey, "h 1024 35 123", "\ufeff# x\r\n\r\n h\t" + fuzzKey, "|1|", "@", "h " + fuzzKey + " h " + fuzzKey,
	} {
		f.Add(line, "h:22")
		f.Add(line+"\n"+line, "[::1]:2222")
	}
	f.Fuzz(func(t *testing.T, text, addr string) {
		h, err := parseKnownHosts("known_hosts", text)
		if err != nil {
			for _, field := range strings.Fields(text) {
				if len(field) > 30 && strings.Contains(err.Error(), field) {
					t.Errorf("the error quotes the text: %v", err)
				}
			}
			return
		}
		s := &SSH{HostKeys: h}
		for _, line := range h.lines {
			err := s.HostKeyCallback(addr)("", nil, line.key)
			listed, _ := h.listed(addr)
			_, revoked := h.revoked(line.key)
			switch kind := fault.KindOf(err); {
			case revoked != (kind == fault.HostKeyRevoked):
				t.Errorf("revoked %t, but %v", revoked, err)
			case !revoked && containsKey(listed, line.key) != (err == nil):
				t.Errorf("line %d: %v", line.number, err)
			case err == nil && len(s.HostKeyAlgorithms(addr)) == 0 && isOffered(line.key.Type()):
				t.Errorf("line %d is good for %q, but nothing is offered", line.number, addr)
			}
		}
	})
}

func isOffered(keyType string) bool {
	for _, t := range hostKeyTypes {
		if t.keyType == keyType {
			return true
		}
	}
	return false
}

// FuzzSecret puts text into each key of a secret and looks for panics, and for
// errors or values that show it.
func FuzzSecret(f *testing.F) {
	for i := range allowedKeys {
		for _, value := range []string{mark, mark + "\n", "-----BEGIN " + mark, "https://" + mark, "12345678901", fuzzKey} {
			f.Add(i, i+1, value, "other")
		}
	}
	f.Fuzz(func(t *testing.T, i, j int, value, other string) {
		key := func(n int) string { return allowedKeys[((n%len(allowedKeys))+len(allowedKeys))%len(allowedKeys)] }
		secret := map[string]string{key(j): other, key(i): value}
		for _, url := range []string{"https://git.example.com/r", "ssh://git.example.com/r"} {
			r := remote(t, url)
			k, err := NewKeychain([]Entry{{URL: string(r.Scheme) + "://" + r.Host, Secret: secret}}, Options{})
			var a *Auth
			if err == nil {
				a, err = k.For(r)
			}
			text := fmt.Sprintf("%v %+v %v %+v", a, a, err, err)
			if len(value) > 10 && strings.Contains(text, value) && !strings.Contains(fmt.Sprint(allowedKeys), value) && key(i) != keyAppID && key(i) != keyAppInstallationID && key(i) != keyAppInstallationOwner && key(i) != keyAppBaseURL {
				t.Errorf("%s is shown: %s", key(i), text)
			}
			if a == nil {
				continue
			}
			if a.ID != "" && a.Scheme() != "" && a.Scheme() != "Basic" && a.Scheme() != "Bearer" {
				t.Errorf("scheme %q", a.Scheme())
			}
			a.Scrub(value)
		}
	})
}
