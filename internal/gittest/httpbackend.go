package gittest

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"slices"
)

// gitBackend returns a handler that runs git http-backend for the repositories
// under root, and writes its complaints to stderr.
func gitBackend(root string, stderr io.Writer) (http.Handler, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("the http server runs git http-backend: %w", err)
	}
	env := append(Env(), "GIT_PROJECT_ROOT="+root, "GIT_HTTP_EXPORT_ALL=1")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		backend := cgi.Handler{
			Path:   git,
			Args:   []string{"http-backend"},
			Root:   "/",
			Env:    env,
			Stderr: stderr,
			Logger: log.New(stderr, "", 0),
		}
		// http-backend before git 2.35 does not read HTTP_GIT_PROTOCOL, so
		// the web server has to hand it over under git's own name.
		if protocol := r.Header.Get("Git-Protocol"); protocol != "" {
			backend.Env = append(slices.Clip(env), "GIT_PROTOCOL="+protocol)
		}
		backend.ServeHTTP(w, r)
	}), nil
}

// withoutGitProtocol drops the Git-Protocol header, so that the server behind
// it speaks version 0.
func withoutGitProtocol(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Del("Git-Protocol")
		next.ServeHTTP(w, r)
	})
}

// guard lets in only requests with the credentials of o, if it has any.
func guard(next http.Handler, o HTTPOptions) http.Handler {
	wantBasic, wantBearer := o.User != "" || o.Password != "", o.Bearer != ""
	if !wantBasic && !wantBearer {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, basic := r.BasicAuth()
		switch {
		case wantBasic && basic && user == o.User && password == o.Password:
		case wantBearer && r.Header.Get("Authorization") == "Bearer "+o.Bearer:
		default:
			if wantBasic {
				w.Header().Add("WWW-Authenticate", `Basic realm="gittest"`)
			}
			if wantBearer {
				w.Header().Add("WWW-Authenticate", `Bearer realm="gittest"`)
			}
			http.Error(w, "gittest: these credentials do not let you in", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
