package lsremote

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// Field case 34: Basic and Bearer, each against a server that wants it.
func TestHTTPCredentials(t *testing.T) {
	root := gittest.Repos(t)
	for name, c := range map[string]struct {
		o      gittest.HTTPOptions
		secret map[string]string
		url    string // prefix of the path
		want   string
	}{
		"Basic":                   {gittest.HTTPOptions{User: "me", Password: "p@ss:wörd"}, map[string]string{"username": "me", "password": "p@ss:wörd"}, "", ""},
		"Bearer":                  {gittest.HTTPOptions{Bearer: "t0ken"}, map[string]string{"bearerToken": "t0ken"}, "", ""},
		"Bearer, user in the URL": {gittest.HTTPOptions{Bearer: "t0ken"}, map[string]string{"bearerToken": "t0ken"}, "me@", ""},
		"over v0":                 {gittest.HTTPOptions{User: "me", Password: "pw12", V0Only: true}, map[string]string{"username": "me", "password": "pw12"}, "", ""},
	} {
		s := gittest.ServeHTTP(t, root, c.o)
		r := mustParse(t, strings.Replace(s.URL, "://", "://"+c.url, 1)+"/a.git")
		a, err := newTestClient(t, Config{}).Read(t.Context(), r, authFor(t, r, s.URL, c.secret), refs("refs/heads/main"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		only(t, a, wantMain)
	}
}

// fakeApp is the API of a GitHub App that hands out token-1, token-2 and so on,
// and the secret of the App.
func fakeApp(t *testing.T) (minted *atomic.Int64, secret map[string]string) {
	t.Helper()
	minted = new(atomic.Int64)
	api := gittest.ServeHTTP(t, "", gittest.HTTPOptions{TLS: &gittest.TLSOptions{}, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"token":"token-%d","expires_at":%q}`, minted.Add(1), time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})})
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return minted, map[string]string{
		"githubAppID": "12", "githubAppInstallationID": "34", "githubAppBaseURL": api.URL, "ca.crt": api.CA.PEM,
		"githubAppPrivateKey": string(pem.EncodeToMemory(block)),
	}
}

// Field case 35: a token that a server does not take any more is renewed once.
func TestHTTPRenewsToken(t *testing.T) {
	root := gittest.Repos(t)
	for name, c := range map[string]struct {
		good   string // the token that the git server takes
		minted int64
		kind   fault.Kind
	}{
		"good":        {"token-1", 1, ""},
		"revoked":     {"token-2", 2, ""},
		"never taken": {"token-9", 2, fault.Authentication},
	} {
		minted, secret := fakeApp(t)
		s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: "x-access-token", Password: c.good})
		r := mustParse(t, s.URL+"/a.git")
		a, err := newTestClient(t, Config{Retry: Retry{MaxAttempts: 4}}).Read(t.Context(), r, authFor(t, r, s.URL, secret), refs("refs/heads/main"))
		if fault.KindOf(err) != c.kind || minted.Load() != c.minted || s.Count() != int(c.minted) {
			t.Errorf("%s: %d tokens, %d requests, %v", name, minted.Load(), s.Count(), err)
			continue
		}
		if err == nil {
			only(t, a, wantMain)
		} else if strings.Contains(fmt.Sprintf("%v %+v", err, err), "token-") {
			t.Errorf("%s: the token is shown: %v", name, err)
		}
	}
}

// An App whose token cannot be had, at first or when it is renewed, is an
// error of its own.
func TestHTTPTokenFails(t *testing.T) {
	_, secret := fakeApp(t)
	secret["githubAppBaseURL"] = "https://127.0.0.1:1"
	s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Status(401, "")})
	r := mustParse(t, s.URL+"/a.git")
	_, err := newTestClient(t, Config{}).Read(t.Context(), r, authFor(t, r, s.URL, secret), refs("HEAD"))
	if e, ok := err.(*fault.Error); !ok || e.Asked == "" || s.Count() != 0 {
		t.Errorf("%d requests, %v", s.Count(), err)
	}

	secrets := 0
	api := gittest.ServeHTTP(t, "", gittest.HTTPOptions{TLS: &gittest.TLSOptions{}, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if secrets++; secrets > 1 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"token":"token-1","expires_at":%q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})})
	secret["githubAppBaseURL"], secret["ca.crt"] = api.URL, api.CA.PEM
	_, err = newTestClient(t, Config{}).Read(t.Context(), r, authFor(t, r, s.URL, secret), refs("HEAD"))
	if e, ok := err.(*fault.Error); !ok || e.Asked == "" || s.Count() != 1 {
		t.Errorf("%d requests, %v", s.Count(), err)
	}
}
