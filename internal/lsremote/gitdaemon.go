package lsremote

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// gitDaemon reads over git:// (gitprotocol-pack, "Git Transport"): one request
// line names service, path and host, and asks for version 2 in an extra
// parameter that older servers ignore.
func (r *reading) gitDaemon(ctx context.Context) (*Advertisement, error) {
	return r.ahead(ctx, r.daemonConnection)
}

// daemonConnection reads over one connection.
func (r *reading) daemonConnection(ctx context.Context, w way) (*Advertisement, error) {
	addr := r.remote.Address()
	conn, err := r.dial(ctx, "tcp", addr)
	if err != nil {
		return nil, dialError(ctx, addr, err)
	}
	defer func() { _ = conn.Close() }()
	defer endWith(ctx, conn)()

	host := r.remote.Host
	if r.remote.Port != 0 {
		host = net.JoinHostPort(host, strconv.Itoa(r.remote.Port))
	}
	request := fmt.Sprintf("git-upload-pack %s\x00host=%s\x00\x00version=2\x00", r.remote.RepoArg(), host)
	r.phase.set(fault.PhaseAnswer)
	r.log.Requests++
	sent, err := fmt.Fprintf(conn, "%04x%s", pktHeader+len(request), request)
	r.log.BytesOut += int64(sent)
	if err != nil {
		return nil, err
	}
	before := r.log.BytesIn
	a, err := r.converse(conn, conn, w)
	if isCut(err) && r.log.BytesIn == before {
		return nil, hungUp(err)
	}
	return a, err
}

// hungUp is for a server that closed the connection without a word.
func hungUp(err error) *fault.Error {
	return &fault.Error{Kind: fault.Unavailable, Phase: fault.PhaseAnswer, Transient: true, Err: err,
		Happened: "the server closed the connection without a word",
		Advice:   "Check that the repository is served there, and that the host is not overloaded."}
}

// endWith makes every read and write of conn end when ctx does. The returned
// function ends that.
func endWith(ctx context.Context, conn net.Conn) (stop func()) {
	end := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return func() { end() }
}
