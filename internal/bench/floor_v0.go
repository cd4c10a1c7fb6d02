package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
)

// readV0 is the least that a reading of an annotated tag costs where the server
// sends all refs: the bytes up to the tag, in which nothing but its name is
// looked for. The connection cannot be kept, for the rest is not read.
func (f *floor) readV0(ctx context.Context, u *url.URL, ref string) (_ string, err error) {
	if err := f.forget(); err != nil {
		return "", err
	}
	if err := f.dial(ctx, u); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.forget()) }()
	if _, err := fmt.Fprintf(f.conn, "GET %s/info/refs?service=git-upload-pack HTTP/1.1\r\nHost: %s\r\n\r\n", u.Path, u.Host); err != nil {
		return "", err
	}
	const idLen = 40
	name := []byte(" " + ref + "^{}\n")
	buf, n := make([]byte, 64<<10), 0
	for {
		got, err := f.conn.Read(buf[n:])
		n += got
		if at := bytes.Index(buf[:n], name); at >= idLen {
			return string(buf[at-idLen : at]), nil
		}
		if err != nil {
			return "", err
		}
		// What may be the beginning of it stays.
		n = copy(buf, buf[max(0, n-idLen-len(name)):n])
	}
}
