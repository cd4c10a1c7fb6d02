package gittest

import (
	"encoding/base64"
	"strings"
	"testing"
)

const mainOfA = "4944cb3a7cbdea7eb4497d5bd2e959d7891f6cca"

// lsRemote runs git ls-remote for refs/heads/main and returns what it printed
// or its error text.
func lsRemote(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	return RunGit(t.TempDir(), env, append(append([]string{}, args[:len(args)-1]...), "ls-remote", args[len(args)-1], "refs/heads/main")...)
}

func wantMain(t *testing.T, out string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if want := mainOfA + "\trefs/heads/main"; out != want {
		t.Fatalf("ls-remote printed %q, want %q", out, want)
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Fatalf("error %v, want one with %q", err, part)
	}
}

func TestHTTPIsReadByGit(t *testing.T) {
	s := ServeHTTP(t, Repos(t), HTTPOptions{})
	out, err := lsRemote(t, nil, s.URL+"/a.git")
	wantMain(t, out, err)
	got := s.Requests()
	if len(got) != 2 || s.Count("GET") != 1 || s.Count("POST") != 1 || s.Count() != 2 {
		t.Fatalf("git made %d requests, want a GET and a POST", len(got))
	}
	if got[0].Path != "/a.git/info/refs" || got[0].Query.Get("service") != "git-upload-pack" {
		t.Errorf("first request %s %v", got[0].Path, got[0].Query)
	}
	if got[0].Header.Get("Git-Protocol") != "version=2" || got[0].Proto != "HTTP/1.1" || got[0].Time.IsZero() {
		t.Errorf("first request: %+v", got[0])
	}
	if !strings.Contains(got[1].Body, "command=ls-refs") {
		t.Errorf("body of the POST: %q", got[1].Body)
	}
	if s.Connections() == 0 {
		t.Error("no connection was counted")
	}
	s.Forget()
	if s.Count() != 0 {
		t.Error("requests are left after Forget")
	}
}

func TestHTTPV0Only(t *testing.T) {
	s := ServeHTTP(t, Repos(t), HTTPOptions{V0Only: true})
	out, err := lsRemote(t, nil, s.URL+"/a.git")
	wantMain(t, out, err)
	if s.Count("POST") != 0 {
		t.Error("git sent a POST, so the server spoke version 2")
	}
	if s.Requests()[0].Header.Get("Git-Protocol") == "" {
		t.Error("the record shows what the server got, so the header should be in it")
	}
}

func TestHTTPBasicAndBearer(t *testing.T) {
	s := ServeHTTP(t, Repos(t), HTTPOptions{User: "me", Password: "pa ss", Bearer: "tok"})
	_, err := lsRemote(t, nil, s.URL+"/a.git")
	wantError(t, err, "could not read Username")

	out, err := lsRemote(t, nil, "-c", "http.extraHeader=Authorization: Bearer tok", s.URL+"/a.git")
	wantMain(t, out, err)

	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:pa ss"))
	out, err = lsRemote(t, nil, strings.Replace(s.URL, "://", "://me:pa%20ss@", 1)+"/a.git")
	wantMain(t, out, err)
	last := s.Requests()[s.Count()-1]
	if got := last.Header.Get("Authorization"); got != basic {
		t.Errorf("recorded Authorization %q, want %q", got, basic)
	}
	_, err = lsRemote(t, nil, "-c", "http.extraHeader=Authorization: Bearer other", s.URL+"/a.git")
	wantError(t, err, "could not read Username")
}

func TestHTTPDownAndUp(t *testing.T) {
	s := ServeHTTP(t, Repos(t), HTTPOptions{})
	s.Down()
	s.Down()
	_, err := lsRemote(t, nil, s.URL+"/a.git")
	wantError(t, err, "onnect")
	if err := s.Up(); err != nil {
		t.Fatal(err)
	}
	out, err := lsRemote(t, nil, s.URL+"/a.git")
	wantMain(t, out, err)
}
