package provider

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// proxyConfig pins over ssh through an http proxy that wants a login.
const proxyConfig = `variable "secret" {
  type      = map(string)
  sensitive = true
  ephemeral = true
}
variable "password" {
  type      = string
  sensitive = true
  ephemeral = true
}
provider "gitpin" {
  credentials = [{ url = "ssh://git.example.invalid", secret = var.secret }]
  proxy = {
    url      = %q
    username = "acme"
    password = var.password
    ssh      = true
  }
  timeout = "20s"
  retry   = { max_attempts = 1 }
}
resource "gitpin_pin" "p" {
  url    = %q
  branch = "main"
}
`

// TestI6_ProxyForSSH: a pin over ssh through the proxy of the provider block, for
// a host that has a name there only; a wrong password is the proxy's failure.
func TestI6_ProxyForSSH(t *testing.T) {
	root := gittest.Repos(t)
	sshd := gittest.ServeSSH(t, root, gittest.SSHOptions{})
	const host = "git.example.invalid:22"
	proxy := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{
		Routes: gittest.Routes{host: sshd.Addr()}, User: "acme", Password: markedPassword, Late: true,
	})
	var known string
	for _, key := range sshd.HostKeys {
		known += key.KnownHost(host) + "\n"
	}
	secret, err := json.Marshal(map[string]string{"identity": sshd.Client.Private, "known_hosts": known})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorkspace(t)
	trace := filepath.Join(w.dir, "trace.log")
	w.env = append(w.env, "TF_LOG=TRACE", "TF_LOG_PATH="+trace, "TF_VAR_secret="+string(secret))
	w.write(fmt.Sprintf(proxyConfig, proxy.URL, "ssh://"+sshd.User+"@git.example.invalid"+root+"/a.git"))
	w.env = append(w.env, "TF_VAR_password="+markedToken)
	wantText(t, w.plan(1).all(), "The proxy failed", "407 Proxy Authentication Required", "proxy.username and proxy.password")
	w.env = append(w.env, "TF_VAR_password="+markedPassword) // the last one counts
	w.apply()
	w.plan(0)
	want(t, "commit", w.state("gitpin_pin.p")["commit"], commitMain)
	for _, file := range []string{trace, filepath.Join(w.dir, "terraform.tfstate")} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		gittest.AssertNoSecrets(t, filepath.Base(file), data, markedPassword, markedToken, sshd.Client.Private,
			base64.StdEncoding.EncodeToString([]byte("acme:"+markedPassword)))
	}
}
