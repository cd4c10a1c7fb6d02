package gitauth

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// maxAPIAnswer bounds an answer of the API, in bytes.
const maxAPIAnswer = 1 << 20

// mint asks the API for an installation token, after looking the installation up
// by its owner if need be. Errors are *fault.Error.
func (a *app) mint(ctx context.Context) (appToken, error) {
	installation, err := a.findInstallation(ctx)
	if err != nil {
		return appToken{}, err
	}
	var answer struct {
		Token     string    `json:"token"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	err = a.call(ctx, http.MethodPost, "/app/installations/"+installation+"/access_tokens", http.StatusCreated, &answer)
	if f := asFault(err); f != nil && f.Status == http.StatusNotFound {
		f.Happened = fmt.Sprintf("GitHub App %s has no installation %s", a.id, installation)
		f.Advice = "Take the installation's id from its settings page: it changes when the App is installed anew."
	}
	if err != nil {
		return appToken{}, err
	}
	if checkHeaderValue(keyBearerToken, answer.Token) != nil || answer.Token == "" {
		return appToken{}, a.apiError(fault.Protocol, "answered without a usable token")
	}
	now := a.now()
	useBy := answer.ExpiresAt.Add(-renewBefore)
	if least := now.Add(leastLife); useBy.Before(least) {
		useBy = least
	}
	return appToken{value: answer.Token, useBy: useBy}, nil
}

// findInstallation returns the installation's id. The owner may be an
// organisation or a user, and the API has a path for each.
func (a *app) findInstallation(ctx context.Context) (string, error) {
	if a.installation != "" {
		return a.installation, nil
	}
	var answer struct {
		ID int64 `json:"id"`
	}
	var err error
	for _, kind := range []string{"orgs", "users"} {
		err = a.call(ctx, http.MethodGet, "/"+kind+"/"+url.PathEscape(a.owner)+"/installation", http.StatusOK, &answer)
		if f := asFault(err); f == nil || f.Status != http.StatusNotFound {
			break
		}
	}
	if f := asFault(err); f != nil && f.Status == http.StatusNotFound {
		f.Happened = fmt.Sprintf("GitHub App %s is not installed on %q", a.id, a.owner)
		f.Advice = "Check githubAppInstallationOwner, and install the App on that organisation or user."
	}
	if err == nil && answer.ID <= 0 {
		err = a.apiError(fault.Protocol, "answered without an installation id")
	}
	return strconv.FormatInt(answer.ID, 10), err
}

// call makes one request as the App and decodes the answer into result. Any
// status but want is an error.
func (a *app) call(ctx context.Context, method, path string, want int, result any) error {
	token, err := a.sign()
	if err != nil {
		return a.apiError(fault.Credentials, "was not asked: the App's key does not sign")
	}
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, nil)
	if err != nil {
		return a.apiError(fault.Credentials, "cannot be asked: its address is not a URL")
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	req.Header.Set("User-Agent", "gitpin")
	resp, err := a.client.Do(req)
	if err != nil {
		return a.networkError(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAPIAnswer))
	if err != nil {
		return a.networkError(ctx, err)
	}
	if resp.StatusCode != want {
		return a.statusError(resp, body, token)
	}
	if json.Unmarshal(body, result) != nil {
		return a.apiError(fault.Protocol, "did not answer with JSON")
	}
	return nil
}

// sign returns a JWT as GitHub wants it: RS256, issued a minute ago for clocks
// that differ, and good for less than its limit of ten minutes.
func (a *app) sign() (string, error) {
	now := a.now()
	return jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer:    a.id,
		IssuedAt:  jwt.NewNumericDate(now.Add(-time.Minute)),
		ExpiresAt: jwt.NewNumericDate(now.Add(8 * time.Minute)),
	}).SignedString(a.key)
}

// apiError is an error of the API; happened goes on from its name.
func (a *app) apiError(kind fault.Kind, happened string) *fault.Error {
	return &fault.Error{Kind: kind, Phase: fault.PhaseCredentials,
		Happened: fmt.Sprintf("no token for %s: %s %s", a, a.base, happened),
		Advice:   "Check githubAppBaseURL, if the secret has one: for a GitHub Enterprise Server it ends in /api/v3."}
}

// networkError says why the API was not reached. It fails every repository that
// these credentials are for.
func (a *app) networkError(ctx context.Context, err error) error {
	if ended := fault.FromContext(ctx, fault.PhaseCredentials); ended != nil {
		ended.Happened += fmt.Sprintf(", waiting for %s to give a token for %s", a.base, a)
		ended.HostWide = ended.Kind == fault.Timeout
		return ended
	}
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var f *fault.Error
	switch {
	case errors.As(err, &verify):
		f = a.apiError(fault.TLS, "has a certificate that is not trusted")
		f.Advice = "Put its authority into ca.crt of the same secret."
		if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); !unknown {
			f.Advice = "Check githubAppBaseURL and the certificate's names and dates."
		}
	case errors.As(err, &record):
		f = a.apiError(fault.TLS, "does not speak TLS")
	default:
		f = a.apiError(fault.Unavailable, "cannot be reached")
		f.Transient = true
		f.Advice = "Check that it is up and that the proxy settings are right."
	}
	f.Err, f.HostWide = err, true
	return f
}

// statusError reads what the API said instead of what was asked for. jwt must not
// be in it.
func (a *app) statusError(resp *http.Response, body []byte, token string) error {
	f := a.apiError(fault.Protocol, "answered "+strconv.Itoa(resp.StatusCode)+" "+http.StatusText(resp.StatusCode))
	f.Status = resp.StatusCode
	var said struct {
		Message string `json:"message"`
	}
	if json.NewDecoder(bytes.NewReader(body)).Decode(&said) == nil {
		f.Server = fault.Clean(scrub(said.Message, []login{{secret: token}}, nil))
	}
	limited := resp.Header.Get("Retry-After") != "" || resp.Header.Get("X-Ratelimit-Remaining") == "0"
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		f.Kind = fault.Authentication
		f.Advice = "Check that githubAppID and githubAppPrivateKey belong together, that the key was not revoked, and that this machine's clock is right."
	case resp.StatusCode == http.StatusNotFound:
		f.Kind = fault.Authentication // the caller knows what was not found
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusForbidden && limited:
		f.Kind, f.Transient = fault.RateLimited, true
		f.RetryAfter = retryAfter(resp.Header, a.now())
		f.Advice = "Wait until GitHub's limit is over."
	case resp.StatusCode == http.StatusForbidden:
		f.Kind = fault.Forbidden
		f.Advice = "Check that the installation is not suspended and that the App may read contents."
	case resp.StatusCode >= http.StatusInternalServerError:
		f.Kind, f.Transient = fault.Unavailable, true
		f.Advice = "Try again later."
	}
	return f
}

// maxRetryAfter bounds what the API may ask for. It is far above any timeout.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads Retry-After, seconds or a date (RFC 9110, section 10.2.3),
// else GitHub's own reset time. What is none of them is 0.
func retryAfter(h http.Header, now time.Time) time.Duration {
	bounded := func(d time.Duration) time.Duration { return min(max(d, 0), maxRetryAfter) }
	asked := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(asked, 10, 31); err == nil && seconds > 0 {
		return bounded(time.Duration(seconds) * time.Second)
	}
	if date, err := http.ParseTime(asked); err == nil {
		return bounded(date.Sub(now))
	}
	if reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil {
		return bounded(time.Unix(reset, 0).Sub(now))
	}
	return 0
}

// asFault returns the *fault.Error in err, or nil.
func asFault(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return nil
}
