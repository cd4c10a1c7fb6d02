package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// bare is a bare repository that is written file by file, without git, so
// that a test can have new ones at the cost of a few small files.
type bare struct {
	dir    string
	format string            // "sha1" or "sha256"
	refs   map[string]string // loose refs written, by full name
	peeled map[string]string // tag object id to what it finally names
}

// newBare makes an empty bare repository in dir whose HEAD names
// refs/heads/main.
func newBare(dir, format string) (*bare, error) {
	config := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
	if format != "sha1" {
		config = "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = true\n" +
			"[extensions]\n\tobjectformat = " + format + "\n"
	}
	b := &bare{dir: dir, format: format, refs: map[string]string{}, peeled: map[string]string{}}
	for _, sub := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	if err := b.write("config", config); err != nil {
		return nil, err
	}
	return b, b.write("HEAD", "ref: refs/heads/main\n")
}

// write writes one file of the repository, with the directories above it.
func (b *bare) write(name, text string) error {
	path := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// object stores a loose object and returns its id.
func (b *bare) object(kind, body string) (string, error) {
	whole := fmt.Appendf(nil, "%s %d\x00%s", kind, len(body), body)
	var id string
	if b.format == "sha256" {
		sum := sha256.Sum256(whole)
		id = hex.EncodeToString(sum[:])
	} else {
		sum := sha1.Sum(whole)
		id = hex.EncodeToString(sum[:])
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(whole); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return id, b.write("objects/"+id[:2]+"/"+id[2:], packed.String())
}

// commit stores a commit with an empty tree, the message c<n> and a date n
// minutes after 1700000000. parent may be "".
func (b *bare) commit(n int, parent string) (string, error) {
	tree, err := b.object("tree", "")
	if err != nil {
		return "", err
	}
	body := "tree " + tree + "\n"
	if parent != "" {
		body += "parent " + parent + "\n"
	}
	date := 1700000000 + 60*n
	body += fmt.Sprintf("author %s %d +0000\ncommitter %s %d +0000\n\nc%d\n", identity, date, identity, date, n)
	return b.object("commit", body)
}

// tag stores a tag object of that name, which may itself name a tag, and
// returns its id. No ref is made.
func (b *bare) tag(name, kind, target string) (string, error) {
	body := fmt.Sprintf("object %s\ntype %s\ntag %s\ntagger %s 1700009000 +0000\n\n%s\n",
		target, kind, name, identity, name)
	id, err := b.object("tag", body)
	b.peeled[id] = target
	if inner, ok := b.peeled[target]; ok {
		b.peeled[id] = inner
	}
	return id, err
}

// ref writes a loose ref.
func (b *bare) ref(name, id string) error {
	b.refs[name] = id
	return b.write(name, id+"\n")
}

// serverInfo writes what "git update-server-info" would, for dumb HTTP.
func (b *bare) serverInfo() error {
	names := make([]string, 0, len(b.refs))
	for name := range b.refs {
		names = append(names, name)
	}
	sort.Strings(names)
	var text strings.Builder
	for _, name := range names {
		id := b.refs[name]
		fmt.Fprintf(&text, "%s\t%s\n", id, name)
		if peeled, ok := b.peeled[id]; ok {
			fmt.Fprintf(&text, "%s\t%s^{}\n", peeled, name)
		}
	}
	if err := b.write("info/refs", text.String()); err != nil {
		return err
	}
	return b.write("objects/info/packs", "\n")
}
