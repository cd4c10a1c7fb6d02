package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// floor is the least that a reading of one ref can cost: the bytes of the
// request on a connection that is kept, and the bytes of the answer, with
// nothing checked. HTTP/1.1, or ssh.
type floor struct {
	access access
	v0     bool     // the server knows no such request
	conn   net.Conn // of http
	from   *bufio.Reader
	ssh    *ssh.Client
}

func (f *floor) forget() error {
	var errs []error
	if f.conn != nil {
		errs = append(errs, f.conn.Close())
	}
	if f.ssh != nil {
		errs = append(errs, f.ssh.Close())
	}
	f.conn, f.ssh = nil, nil
	return errors.Join(errs...)
}

func (f *floor) dial(ctx context.Context, u *url.URL) (err error) {
	if u.Scheme == "https" {
		var config *tls.Config
		if config, err = f.access.tlsConfig(); err != nil {
			return err
		}
		f.conn, err = (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", u.Host)
	} else {
		f.conn, err = new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	}
	if err == nil {
		f.from = bufio.NewReader(f.conn)
	}
	return err
}

func (f *floor) read(ctx context.Context, rawURL, ref string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil || ref == "" {
		return "", errors.Join(err, errors.New("the floor reads one ref"))
	}
	if u.Scheme == "ssh" {
		return f.readSSH(ctx, u, ref)
	}
	if f.v0 {
		return f.readV0(ctx, u, ref)
	}
	if f.conn == nil {
		if err := f.dial(ctx, u); err != nil {
			return "", err
		}
	}
	body := cannedRequest(ref)
	request := fmt.Appendf(nil, "POST %s/git-upload-pack HTTP/1.1\r\nHost: %s\r\nGit-Protocol: version=2\r\n"+
		"Content-Type: application/x-git-upload-pack-request\r\nContent-Length: %d\r\n\r\n%s", u.Path, u.Host, len(body), body)
	if _, err := f.conn.Write(request); err != nil {
		return "", err
	}
	resp, err := http.ReadResponse(f.from, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return "", errors.Join(err, errors.New(resp.Status))
	}
	if len(text) == 0 || bytes.HasPrefix(text, []byte("0000")) {
		f.v0 = true
		return f.readV0(ctx, u, ref)
	}
	return cannedAnswer(text)
}

// cannedRequest is the command for one ref.
func cannedRequest(ref string) []byte {
	request := append(gittest.Pkt("command=ls-refs\n"), "0001"...)
	return append(request, gittest.PktLines("peel", "symrefs", "ref-prefix "+ref)...)
}

// peeledID finds the commit of an annotated tag, plainID that of another ref:
// in a packet behind the beginning or a flush.
var (
	peeledID = regexp.MustCompile(`peeled:([0-9a-f]{40})`)
	plainID  = regexp.MustCompile(`(?:^|0000)[0-9a-f]{4}([0-9a-f]{40}) `)
)

// cannedAnswer returns the commit that an answer shows.
func cannedAnswer(text []byte) (string, error) {
	for _, id := range []*regexp.Regexp{peeledID, plainID} {
		if found := id.FindSubmatch(bytes.TrimSpace(text)); found != nil {
			return string(found[1]), nil
		}
	}
	return "", fmt.Errorf("no ref in %q", text)
}
