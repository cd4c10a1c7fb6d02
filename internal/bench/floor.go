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

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// floor is the least that a reading of one ref over http can cost: the bytes
// of the request on a connection that is kept, and the bytes of the answer,
// with nothing checked. HTTP/1.1.
type floor struct {
	access access
	conn   net.Conn
	from   *bufio.Reader
}

func (f *floor) forget() error {
	if f.conn == nil {
		return nil
	}
	err := f.conn.Close()
	f.conn = nil
	return err
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

// peeledID finds the commit in an answer of one annotated tag, plainID that in
// an answer of one other ref.
var (
	peeledID = regexp.MustCompile(`peeled:([0-9a-f]{40})`)
	plainID  = regexp.MustCompile(`^[0-9a-f]{4}([0-9a-f]{40})`)
)

func (f *floor) read(ctx context.Context, rawURL, ref string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil || ref == "" {
		return "", errors.Join(err, errors.New("the floor reads one ref over http"))
	}
	if f.conn == nil {
		if err := f.dial(ctx, u); err != nil {
			return "", err
		}
	}
	body := append(gittest.Pkt("command=ls-refs\n"), "0001"...)
	body = append(body, gittest.PktLines("peel", "symrefs", "ref-prefix "+ref)...)
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
	for _, id := range []*regexp.Regexp{peeledID, plainID} {
		if found := id.FindSubmatch(bytes.TrimSpace(text)); found != nil {
			return string(found[1]), nil
		}
	}
	return "", fmt.Errorf("no ref in %q", text)
}
