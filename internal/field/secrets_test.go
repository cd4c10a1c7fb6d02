package field

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
)

// marked is in every secret value of the tests below, and its beginning is
// searched for as well: a secret that is cut is still one.
const (
	marked     = `M4rk/"ed+$ecret%21-0123456789`
	markedPart = `M4rk/"ed+$e`
)

// echoes are the places in which a server can put text that ends up in an
// error: each is given what to say. (The names of its refs are what the remote
// is asked for, and not searched.)
var echoes = map[string]func(said string) http.Handler{
	"401 body": func(said string) http.Handler { return gittest.Status(401, said) },
	"401 challenge": func(said string) http.Handler {
		return gittest.Status(401, "", "WWW-Authenticate", said+` realm="`+said+`"`)
	},
	"403 body":         func(said string) http.Handler { return gittest.Status(403, said) },
	"403 body, cut":    func(said string) http.Handler { return gittest.Status(403, strings.Repeat("x", 290)+said) },
	"403 body, blanks": func(said string) http.Handler { return gittest.Status(403, strings.Repeat(" ", 2395)+said+"x") },
	"403 body, 4 KiB":  func(said string) http.Handler { return gittest.Status(403, strings.Repeat(" ", 4090)+said) },
	// What is hidden is short, so that the end of what is read is shown.
	"403 body, often": func(said string) http.Handler {
		return gittest.Status(403, strings.Repeat(strings.Repeat(" ", 100)+said, 4096/(100+len(said))+1))
	},
	"403 body, invisible": func(said string) http.Handler {
		return gittest.Status(403, said[:len(said)/2]+"\u200b"+said[len(said)/2:])
	},
	"403 JSON":       jsonMessage,
	"404 body":       func(said string) http.Handler { return gittest.Status(404, said) },
	"429 body":       func(said string) http.Handler { return gittest.Status(429, said, "Retry-After", said) },
	"500 body":       func(said string) http.Handler { return gittest.Status(500, said) },
	"content type":   func(said string) http.Handler { return gittest.Answer("text/"+said, []byte(said)) },
	"web page":       gittest.HTML,
	"redirect path":  func(said string) http.Handler { return gittest.Redirect(302, "/login/"+url.PathEscape(said)) },
	"redirect query": func(said string) http.Handler { return gittest.Redirect(302, "/login?token="+url.QueryEscape(said)) },
	"redirect user": func(said string) http.Handler {
		return gittest.Redirect(302, "https://"+url.PathEscape(said)+"@h.invalid/x")
	},
	"redirect scheme":   func(said string) http.Handler { return gittest.Redirect(302, "data:"+url.PathEscape(said)) },
	"redirect raw":      func(said string) http.Handler { return gittest.Redirect(302, "ht!tp://"+said) },
	"ERR packet":        func(said string) http.Handler { return upload(gittest.PktLines("ERR " + said)) },
	"line that is none": func(said string) http.Handler { return upload(gittest.PktLines(said)) },
	"pkt-line length":   func(said string) http.Handler { return upload([]byte(said)) },
	"capability": func(said string) http.Handler {
		return gittest.Answer(gittest.AdvertisementType, gittest.PktLines("version 2", "object-format="+said))
	},
	"v0 first line": func(said string) http.Handler {
		return gittest.Answer(gittest.AdvertisementType, gittest.PktLines(said+"\x00object-format="+said))
	},
}

// upload answers POST and GET with one body, each under its own type.
func upload(body []byte) http.Handler {
	return gittest.Instead(gittest.IsPost, gittest.Answer(gittest.ResultType, body))(gittest.Answer(gittest.AdvertisementType, body))
}

func jsonMessage(said string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"message":%q}`, said)
	})
}

// TestI6_SecretsOnEveryErrorPath lets servers say back the credentials that
// they were given, in every form and in every place in which a server can put
// text, and searches errors and log entries for them. What was configured
// wrongly, and every other error of the field cases, is searched in the rows of
// TestFieldCases.
func TestI6_SecretsOnEveryErrorPath(t *testing.T) {
	const bearer = "M4rkedT0ken-0123456789abcdef"
	secrets := map[string]map[string]string{
		"basic":  {"username": user, "password": marked},
		"bearer": {"bearerToken": bearer},
	}
	for kind, secret := range secrets {
		value := marked + secret["bearerToken"]
		if kind == "bearer" {
			value = bearer
		}
		said := append(gittest.Forms(value), base64.StdEncoding.EncodeToString([]byte(user+":"+value)), user+":"+value)
		for place, echo := range echoes {
			for _, form := range said {
				if strings.ContainsAny(form, "\n\x00") {
					continue
				}
				s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: echo(form)})
				log, err := failing(t, access{s.URL + "/a.git", secret}, lsremote.Config{})
				if searched := everyVerb(err) + log; gittest.FindSecret([]byte(searched), value, markedPart, bearer[:12]) != "" {
					t.Errorf("%s, %s, %q: %s", kind, place, form, gittest.FindSecret([]byte(searched), value, markedPart, bearer[:12]))
				}
				_ = s.Close()
			}
		}
	}
}

// brokenHTTP are answers that net/http refuses, some by quoting them. %s is what
// the server says.
var brokenHTTP = map[string]string{
	"protocol":         "%s 200 OK\r\n\r\n",
	"status":           "HTTP/1.1 4%s OK\r\n\r\n",
	"reason":           "HTTP/1.1 418 %s\r\n\r\n",
	"length":           "HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n",
	"two lengths":      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: %s\r\n\r\n",
	"transfer coding":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: %s\r\n\r\n",
	"content encoding": "HTTP/1.1 200 OK\r\nContent-Type: " + gittest.ResultType + "\r\nContent-Encoding: %s\r\n\r\nx",
	"header name":      "HTTP/1.1 200 OK\r\n%s: x\r\n\r\n",
	"no colon":         "HTTP/1.1 200 OK\r\n%s\r\n\r\n",
	"folded":           "HTTP/1.1 200 OK\r\n %s\r\n\r\n",
	"chunk":            "HTTP/1.1 200 OK\r\nContent-Type: " + gittest.ResultType + "\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n",
	"trailer":          "HTTP/1.1 200 OK\r\nTrailer: %s\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n%s\r\n",
}

// TestI6_SecretsInBrokenHTTP: what net/http quotes of an answer that it cannot
// read is scrubbed before it is cut, wherever the cut falls; the same for the
// answer of a proxy.
func TestI6_SecretsInBrokenHTTP(t *testing.T) {
	for name, answer := range brokenHTTP {
		for pad := 0; pad <= 300; pad += 10 {
			said := strings.ReplaceAll(answer, "%s", strings.Repeat("x", pad)+marked)
			s := gittest.ServeTCP(t, gittest.Conversation(readHead, gittest.Send([]byte(said))))
			log, err := failing(t, access{"http://" + s.Addr() + "/a.git", with(basicSecret, "password", marked)}, lsremote.Config{})
			gittest.AssertNoSecrets(t, fmt.Sprint(name, " after ", pad, " bytes"), []byte(everyVerb(err)+log), marked, markedPart)

			log, err = failing(t, access{URL: "https://" + webHost + "/a.git"}, lsremote.Config{Proxy: &lsremote.Proxy{URL: "http://" + s.Addr(), Username: "pr0xy", Password: marked}})
			gittest.AssertNoSecrets(t, fmt.Sprint("proxy, ", name, " after ", pad, " bytes"), []byte(everyVerb(err)+log), marked, markedPart)
			_ = s.Close()
		}
	}
}

// readHead reads the head of a request, which comes in one piece.
func readHead(_ context.Context, c io.ReadWriteCloser) error {
	_, err := c.Read(make([]byte, 4096))
	return err
}

// failing reads, which must fail, and returns the log entries too.
func failing(t *testing.T, a access, c lsremote.Config) (string, error) {
	t.Helper()
	c.Retry.MaxAttempts = 1
	r := row{url: a.URL, secret: a.Secret}
	s, err := newStack(t, c, r.entries(), gitauth.Options{})
	if err == nil {
		_, err = s.Observe(t.Context(), branchMain(a.URL), reading.Want{}, true)
	}
	if err == nil {
		t.Errorf("%s was read", a.URL)
	}
	return s.logged(), err
}

// everyVerb prints err in every way in which somebody may, and its fields.
func everyVerb(err error) string {
	text := fmt.Sprintf("%v %+v %#v %s %q", err, err, err, err, err)
	var f *fault.Error
	if errors.As(err, &f) {
		text += fmt.Sprintf("%+v %#v", *f, *f) + f.What() + f.Server + f.Asked + f.Advice
	}
	return text
}

// TestI6_SecretsOfProxies: the proxy's credentials are not the host's, and show
// up nowhere either.
func TestI6_SecretsOfProxies(t *testing.T) {
	for place, handler := range map[string]http.Handler{
		"407": gittest.Status(407, marked, "Proxy-Authenticate", "Basic "+marked),
		"502": gittest.Status(502, marked), "403": gittest.Status(403, marked), "junk": gittest.Redirect(302, "/"+url.PathEscape(marked)),
	} {
		for _, scheme := range []string{"http", "https"} {
			p := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: handler})
			log, err := failing(t, access{URL: scheme + "://" + webHost + "/a.git"}, lsremote.Config{Proxy: &lsremote.Proxy{URL: p.URL, Username: "pr0xy", Password: marked}})
			gittest.AssertNoSecrets(t, place+" "+scheme, []byte(everyVerb(err)+log), marked, markedPart)

			t.Setenv(scheme+"_proxy", strings.Replace(p.URL, "://", "://pr0xy:"+url.QueryEscape(marked)+"@", 1))
			log, err = failing(t, access{URL: scheme + "://" + webHost + "/a.git"}, lsremote.Config{})
			gittest.AssertNoSecrets(t, place+" "+scheme+" from the environment", []byte(everyVerb(err)+log), marked, markedPart)
			t.Setenv(scheme+"_proxy", "")
		}
	}
	for _, c := range []lsremote.Proxy{
		{URL: "http://pr0xy:" + marked + "@proxy.invalid"}, {URL: "http://" + marked}, {URL: marked}, {URL: "socks4://a:" + url.PathEscape(marked) + "@proxy.invalid"},
		{URL: "http://a:" + url.PathEscape(marked) + "@proxy.invalid", Username: "b", Password: marked}, {URL: "http://proxy.invalid", Password: marked},
	} {
		log, err := failing(t, access{URL: "https://" + webHost + "/a.git"}, lsremote.Config{Proxy: &c})
		gittest.AssertNoSecrets(t, "proxy settings", []byte(everyVerb(err)+log), marked, markedPart)
	}
}

// TestI6_SecretsOfAnApp: the API and the git server say back what they were
// given, the token of the App included.
func TestI6_SecretsOfAnApp(t *testing.T) {
	for _, status := range []int{401, 403, 404, 500} {
		hub := newGitHub(t)
		echo := func(w http.ResponseWriter, r *http.Request) {
			_, token, _ := r.BasicAuth()
			gittest.Status(status, "you sent "+r.Header.Get("Authorization")+" which is "+token+" or "+base64.StdEncoding.EncodeToString([]byte(token))).ServeHTTP(w, r)
		}
		web := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: http.HandlerFunc(echo)})
		log, err := failing(t, access{web.URL + "/a.git", hub.secret}, lsremote.Config{})
		if hub.minted == 0 {
			t.Fatal("no token was minted")
		}
		gittest.AssertNoSecrets(t, "git server", []byte(everyVerb(err)+log), append(hub.all, hub.secret["githubAppPrivateKey"])...)

		api := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			header := r.Header.Get("Authorization")
			fmt.Fprintf(w, `{"message":%q}`, header+" "+base64.StdEncoding.EncodeToString([]byte(strings.TrimPrefix(header, "Bearer "))))
		})})
		log, err = failing(t, access{web.URL + "/a.git", with(hub.secret, "githubAppBaseURL", api.URL)}, lsremote.Config{})
		jwt := strings.TrimPrefix(api.Requests()[0].Header.Get("Authorization"), "Bearer ")
		gittest.AssertNoSecrets(t, "API", []byte(everyVerb(err)+log), jwt, base64.StdEncoding.EncodeToString([]byte(jwt))[:100], hub.secret["githubAppPrivateKey"])
	}
}
