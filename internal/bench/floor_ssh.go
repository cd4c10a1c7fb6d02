package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"

	"golang.org/x/crypto/ssh"
)

// readSSH is the least that a reading of one ref over ssh can cost: a session on
// a connection that is kept, and the request sent without waiting for anything.
func (f *floor) readSSH(ctx context.Context, u *url.URL, ref string) (string, error) {
	if f.ssh == nil {
		if err := f.dialSSH(ctx, u); err != nil {
			return "", err
		}
	}
	channel, requests, err := f.ssh.OpenChannel("session", nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = channel.Close() }()
	go ssh.DiscardRequests(requests)
	for _, request := range []struct {
		name    string
		payload any
	}{
		{"env", struct{ Name, Value string }{"GIT_PROTOCOL", "version=2"}},
		{"exec", struct{ Command string }{"git-upload-pack '" + u.Path + "'"}},
	} {
		if _, err := channel.SendRequest(request.name, false, ssh.Marshal(request.payload)); err != nil {
			return "", err
		}
	}
	if _, err := channel.Write(append(cannedRequest(ref), "0000"...)); err != nil {
		return "", err
	}
	text, err := io.ReadAll(channel)
	if err != nil {
		return "", err
	}
	return cannedAnswer(text)
}

func (f *floor) dialSSH(ctx context.Context, u *url.URL) error {
	key, err := ssh.ParsePrivateKey([]byte(f.access.Identity))
	if err != nil {
		return err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return err
	}
	c, channels, requests, err := ssh.NewClientConn(conn, u.Host, &ssh.ClientConfig{
		User:            f.access.User,
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(key)},
		HostKeyCallback: ssh.InsecureIgnoreHostKey(), // it checks nothing
	})
	if err != nil {
		return fmt.Errorf("%s: %w", u.Host, err)
	}
	f.ssh = ssh.NewClient(c, channels, requests)
	return nil
}
