package gitauth

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// serveHandshakes runs an ssh server that hangs up after each handshake, and
// returns its address.
func serveHandshakes(t testing.TB, keys ...ssh.Signer) string {
	t.Helper()
	config := &ssh.ServerConfig{NoClientAuth: true}
	for _, key := range keys {
		config.AddHostKey(key)
	}
	return serveConns(t, func(conn net.Conn) {
		if server, _, _, err := ssh.NewServerConn(conn, config); err == nil {
			_ = server.Close()
		}
	})
}

// serveConns listens on this machine and hands each connection to serve, which
// it waits for at the end.
func serveConns(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(time.Minute))
				serve(conn)
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l.Addr().String()
}

// handshake connects as a reading would and returns what the check of the host
// key says. auth methods may be missing: the key is checked first.
func handshake(t testing.TB, addr string, s *SSH) error {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	client, _, _, err := ssh.NewClientConn(conn, addr, &ssh.ClientConfig{
		User: s.User, Auth: s.Methods,
		HostKeyCallback:   s.HostKeyCallback(addr),
		HostKeyAlgorithms: s.HostKeyAlgorithms(addr),
	})
	if err == nil {
		_ = client.Close() // the server may have been quicker
		return nil
	}
	var none *ssh.AlgorithmNegotiationError
	if errors.As(err, &none) {
		return s.NoCommonHostKey(addr, none.RequestedAlgorithms)
	}
	return err
}

// opensshAccepts asks the ssh command for its opinion of the host key.
func opensshAccepts(t testing.TB, addr, knownHosts string) bool {
	t.Helper()
	host, port, _ := net.SplitHostPort(addr)
	out, _ := tryRun("", "ssh", "-v", "-F", "none", "-p", port, "-o", "UserKnownHostsFile="+write(t, knownHosts),
		"-o", "GlobalKnownHostsFile=none", "-o", "StrictHostKeyChecking=yes", "-o", "BatchMode=yes", "-o", "IdentityAgent=none",
		"-o", "IdentitiesOnly=yes", "-o", "CheckHostIP=no", "-o", "ConnectTimeout=30", "git@"+host, "true")
	refused := strings.Contains(out, "Host key verification failed") || strings.Contains(out, "no matching host key type")
	if accepted := strings.Contains(out, "Authenticated to "); accepted == refused {
		t.Fatalf("ssh said neither yes nor no: %s", out)
	}
	return !refused
}

// hostCert returns a signer that shows key with a certificate by ca.
func hostCert(t testing.TB, key, ca sshKey, args ...string) ssh.Signer {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"ca": ca.private, "key.pub": key.public} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "", "ssh-keygen", append([]string{"-q", "-s", filepath.Join(dir, "ca"), "-I", "test", "-h"}, append(args, filepath.Join(dir, "key.pub"))...)...)
	public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(read(t, filepath.Join(dir, "key-cert.pub"))))
	if err != nil {
		t.Fatal(err)
	}
	cert, ok := public.(*ssh.Certificate)
	if !ok {
		t.Fatal("no certificate")
	}
	signer, err := ssh.NewCertSigner(cert, key.signer(t))
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// TestHostKeyCheck runs each known_hosts against a server, through our client
// and through OpenSSH's. {P} stands for the server's port.
func TestHostKeyCheck(t *testing.T) {
	ed, old, rsa, ecdsa, ca := ed25519Key(t, "host"), ed25519Key(t, "old host"), rsaKey(t), ecdsaKey(t), ed25519Key(t, "ca")
	all := []ssh.Signer{rsa.signer(t), ecdsa.signer(t), ed.signer(t)}
	one := all[2:]
	cert := []ssh.Signer{hostCert(t, ed, ca, "-n", "127.0.0.1"), ed.signer(t)}
	// A server that has a plain RSA key beside a certificate for its RSA key.
	rsaCert := []ssh.Signer{hostCert(t, rsa, ca, "-n", "127.0.0.1")}
	expired := []ssh.Signer{hostCert(t, ed, ca, "-n", "127.0.0.1", "-V", "20200101:20210101")}
	other := []ssh.Signer{hostCert(t, ed, ca, "-n", "git.example.com")}
	rsaCA := rsaKey(t)
	bySHA1 := []ssh.Signer{hostCert(t, ed, rsaCA, "-n", "127.0.0.1", "-t", "ssh-rsa")}
	bySHA2 := []ssh.Signer{hostCert(t, ed, rsaCA, "-n", "127.0.0.1", "-t", "rsa-sha2-256")}
	pattern := []ssh.Signer{hostCert(t, ed, ca, "-n", "127.0.0.*")}
	nobody := []ssh.Signer{hostCert(t, ed, ca)}
	const here = "[127.0.0.1]:{P}"
	for name, tc := range map[string]struct {
		keys       []ssh.Signer
		knownHosts string
		want       fault.Kind // "" is accepted
		parts      []string
		differs    bool // from OpenSSH, see the comment
	}{
		"ed25519 of three":     {all, ed.line(here), "", nil, false},
		"ecdsa of three":       {all, ecdsa.line(here), "", nil, false},
		"rsa of three":         {all, rsa.line(here), "", nil, false},
		"all three":            {all, ed.line(here) + rsa.line(here) + ecdsa.line(here), "", nil, false},
		"hashed":               {all, hashLines(t, ed.line(here)), "", nil, false},
		"plain line, port":     {one, ed.line("127.0.0.1"), "", nil, false},
		"plain hashed, port":   {one, hashLines(t, ed.line("127.0.0.1")), "", nil, false},
		"host:port":            {one, ed.line("127.0.0.1:{P}"), fault.HostKeyUnknown, []string{"no entry for [127.0.0.1]:", "line 1 spells it 127.0.0.1:"}, false},
		"wildcard":             {one, ed.line("*"), "", nil, false},
		"wildcard and port":    {one, ed.line("[127.0.0.*]:{P}"), "", nil, false},
		"negated":              {one, ed.line("*,!" + here), "", nil, false}, // "*" is for the plain host too
		"negated both":         {one, ed.line("*,!*127.0.0.1*"), fault.HostKeyUnknown, nil, false},
		"another host":         {one, ed.line("git.example.com") + rsa.line("b.example.com"), fault.HostKeyUnknown, []string{"it has entries for git.example.com, b.example.com", "SHA256:"}, false},
		"another port":         {one, ed.line("[127.0.0.1]:1"), fault.HostKeyUnknown, []string{"[127.0.0.1]:1"}, false},
		"rotation, old first":  {one, old.line(here) + ed.line(here), "", nil, false},
		"rotation, new first":  {one, ed.line(here) + old.line(here), "", nil, false},
		"another key":          {one, old.line(here), fault.HostKeyMismatch, []string{ed.fingerprint(t), old.fingerprint(t), "line 1", "between you and it"}, false},
		"another, plain line":  {one, old.line("127.0.0.1"), fault.HostKeyUnknown, []string{"another key for 127.0.0.1", old.fingerprint(t), ed.fingerprint(t)}, false},
		"port line wins":       {one, old.line(here) + ed.line("127.0.0.1"), fault.HostKeyMismatch, nil, false},
		"another type only":    {one, rsa.line(here), fault.HostKeyUnknown, []string{"has only ssh-rsa", "the host offers ssh-ed25519"}, false},
		"revoked, after":       {one, ed.line(here) + "@revoked " + ed.line(here), fault.HostKeyRevoked, []string{"line 2", ed.fingerprint(t)}, false},
		"revoked, before":      {one, "@revoked " + ed.line("*") + ed.line(here), fault.HostKeyRevoked, []string{"line 1"}, false},
		"old revoked":          {one, "@revoked " + old.line(here) + ed.line(here), "", nil, false},
		"revoked for another":  {one, "@revoked " + ed.line("git.example.com") + ed.line(here), fault.HostKeyRevoked, nil, true}, // a key that is out is out
		"only revoked, old":    {one, "@revoked " + old.line(here), fault.HostKeyUnknown, nil, false},
		"CRLF":                 {one, strings.ReplaceAll(ed.line(here), "\n", "\r\n"), "", nil, false},
		"byte order mark":      {one, "\ufeff" + ed.line(here), "", nil, true}, // the mark is a part of the host to OpenSSH
		"joined, first":        {one, strings.TrimSpace(ed.line(here)) + " " + rsa.line(here), "", nil, false},
		"joined, second":       {one, strings.TrimSpace(old.line(here)) + " " + ed.line(here), fault.HostKeyMismatch, []string{"line 1 seems to hold several entries"}, false},
		"joined, other host":   {one, strings.TrimSpace(old.line("git.example.com")) + " " + ed.line(here), fault.HostKeyUnknown, []string{"line 1 seems to hold several entries"}, false},
		"certificate":          {cert, "@cert-authority " + ca.line(here), "", nil, false},
		"certificate, any":     {cert, "@cert-authority " + ca.line("*"), "", nil, false},
		"certificate, plain h": {cert, "@cert-authority " + ca.line("127.0.0.1"), "", nil, false},
		"certificate, rsa":     {rsaCert, "@cert-authority " + ca.line(here), "", nil, false},
		"certificate, SHA-2":   {bySHA2, "@cert-authority " + rsaCA.line(here), "", nil, false},
		"certificate, SHA-1":   {bySHA1, "@cert-authority " + rsaCA.line(here), fault.HostKeyUnknown, []string{"has signed the certificate with SHA-1"}, false},
		"certificate, pattern": {pattern, "@cert-authority " + ca.line(here), fault.HostKeyUnknown, []string{"its certificate is not good"}, false},
		"certificate, nobody":  {nobody, "@cert-authority " + ca.line(here), "", nil, false},
		"certificate, too":     {cert, ed.line(here) + "@cert-authority " + old.line(here), "", nil, false}, // falls back to the plain key
		"certificate, late":    {expired, "@cert-authority " + ca.line(here), fault.HostKeyUnknown, []string{"cert has expired"}, false},
		"certificate, name":    {other, "@cert-authority " + ca.line(here), fault.HostKeyUnknown, []string{"its certificate is not good"}, false},
		"certificate, by whom": {cert, "@cert-authority " + old.line(here), fault.HostKeyUnknown, []string{"no @cert-authority line", ca.fingerprint(t)}, false},
		"certificate, revoked": {cert, "@cert-authority " + ca.line(here) + "@revoked " + ed.line("*"), fault.HostKeyRevoked, nil, false},
		"authority, revoked":   {cert, "@cert-authority " + ca.line(here) + "@revoked " + ca.line("*"), fault.HostKeyRevoked, nil, false},
		"no certificate":       {one, "@cert-authority " + ca.line(here), fault.HostKeyUnknown, []string{"certificates of an authority", "the host offers ssh-ed25519"}, false},
		"not as an authority":  {cert, ca.line(here), fault.HostKeyMismatch, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			addr := serveHandshakes(t, tc.keys...)
			_, port, _ := net.SplitHostPort(addr)
			text := strings.ReplaceAll(tc.knownHosts, "{P}", port)
			text = rehash(t, text)
			h, err := parseKnownHosts("known_hosts", text)
			if err != nil {
				t.Fatal(err)
			}
			err = handshake(t, addr, &SSH{User: "git", HostKeys: h})
			if tc.want == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if tc.want != "" {
				wantFault(t, err, tc.want, tc.parts...)
				if f := asFault(err); f != nil && (f.Phase != fault.PhaseSSH || !f.HostWide) {
					t.Errorf("phase %q, host-wide %t", f.Phase, f.HostWide)
				}
			}
			if accepts := opensshAccepts(t, addr, text); accepts != (tc.want == "") && !tc.differs {
				t.Errorf("OpenSSH accepts: %t; ours: %v", accepts, err)
			}
		})
	}
}

// hashLines marks lines for rehash: the port is not known yet.
func hashLines(t testing.TB, text string) string {
	t.Helper()
	return "HASH " + text
}

func rehash(t testing.TB, text string) string {
	t.Helper()
	plain, ok := strings.CutPrefix(text, "HASH ")
	if !ok {
		return text
	}
	file := write(t, plain)
	run(t, "", "ssh-keygen", "-H", "-f", file)
	return read(t, file)
}

func TestHostKeyAlgorithms(t *testing.T) {
	ed, rsa, ecdsa, ca := ed25519Key(t, "host"), rsaKey(t), ecdsaKey(t), rsaKey(t)
	certs := []string{
		ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
		ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01,
	}
	for name, tc := range map[string]struct {
		text, addr string
		want       []string
	}{
		"rsa is SHA-2":       {rsa.line("h"), "h:22", []string{"rsa-sha2-512", "rsa-sha2-256"}},
		"ed25519":            {ed.line("h"), "h:22", []string{"ssh-ed25519"}},
		"the host's own":     {ed.line("h") + rsa.line("other") + ecdsa.line("*.example.com"), "h:22", []string{"ssh-ed25519"}},
		"whatever the order": {rsa.line("h") + ecdsa.line("h") + ed.line("h"), "h:22", []string{"ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-512", "rsa-sha2-256"}},
		"once each":          {ed.line("h") + ed25519Key(t, "old host").line("h"), "h:22", []string{"ssh-ed25519"}},
		"this port":          {ed.line("[h]:2222") + rsa.line("h"), "h:2222", []string{"ssh-ed25519"}},
		"the plain host":     {rsa.line("h"), "h:2222", []string{"rsa-sha2-512", "rsa-sha2-256"}},
		"not another port":   {rsa.line("[h]:2222"), "h:22", nil},
		"not listed":         {rsa.line("other"), "h:22", nil},
		"revoked only":       {"@revoked " + rsa.line("h"), "h:22", nil},
		"an authority":       {"@cert-authority " + ca.line("h"), "h:22", certs},
		"an authority, port": {"@cert-authority " + ca.line("h"), "h:2222", certs},
		"and plain":          {"@cert-authority " + ca.line("*") + ed.line("h"), "h:22", append(slices.Clone(certs), "ssh-ed25519")},
	} {
		h, err := parseKnownHosts("known_hosts", tc.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&SSH{HostKeys: h}).HostKeyAlgorithms(tc.addr); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestHostKeyUnknownSaysHowToAdd checks the advice for hosts of each spelling.
func TestHostKeyUnknownSaysHowToAdd(t *testing.T) {
	key := ed25519Key(t, "host")
	many := ""
	for _, host := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		many += rsaKey(t).line(host + ".example.com")
	}
	many += rehash(t, hashLines(t, rsaKey(t).line("secret.example.com")))
	h, err := parseKnownHosts("known_hosts", many)
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]string{
		"git.example.com:22":   "`ssh-keyscan git.example.com`",
		"git.example.com:2222": "`ssh-keyscan -p 2222 git.example.com`",
		"[::1]:2222":           "`ssh-keyscan -p 2222 ::1`",
	} {
		wantFault(t, h.check(addr, key.key(t)), fault.HostKeyUnknown, want, "ssh-ed25519 "+key.fingerprint(t),
			"a.example.com, b.example.com, c.example.com, d.example.com, e.example.com and 3 more")
	}
}

func TestNoCommonHostKeyOfAnUnlistedHost(t *testing.T) {
	h, err := parseKnownHosts("known_hosts", ed25519Key(t, "host").line("git.example.com"))
	if err != nil {
		t.Fatal(err)
	}
	s := &SSH{HostKeys: h}
	wantFault(t, s.NoCommonHostKey("other.example.com:22", []string{"ssh-dss"}), fault.Protocol, "other.example.com", "ssh-dss")
	wantFault(t, s.NoCommonHostKey("git.example.com:22", []string{"ssh-\x1b[31mdss"}), fault.HostKeyUnknown, "has only ssh-ed25519", "ssh-[31mdss")
}

// sshd serves connections by OpenSSH's server in its inetd mode, with these host
// keys and logins for user.
func sshd(t testing.TB, user sshKey, hosts ...sshKey) string {
	t.Helper()
	const program = "/usr/sbin/sshd"
	if _, err := os.Stat(program); err != nil {
		t.Fatal("OpenSSH's server is needed: apt-get install openssh-server")
	}
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	config := []string{"UsePAM no", "StrictModes no", "PidFile none", "AuthorizedKeysFile " + filepath.Join(dir, "authorized_keys"), "PermitRootLogin yes", "LogLevel QUIET"}
	files := map[string]string{"authorized_keys": user.public}
	for i, key := range hosts {
		name := "host" + string(rune('0'+i))
		files[name] = key.private
		config = append(config, "HostKey "+filepath.Join(dir, name))
	}
	files["config"] = strings.Join(config, "\n") + "\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return serveConns(t, func(conn net.Conn) {
		file, err := conn.(*net.TCPConn).File()
		if err != nil {
			return
		}
		defer file.Close()
		cmd := exec.Command(program, "-i", "-f", filepath.Join(dir, "config"))
		cmd.Stdin, cmd.Stdout = file, file
		_ = cmd.Run()
	})
}

// TestAgainstSSHD logs in at OpenSSH's server with what a secret gives, with a
// key of each type on both sides.
func TestAgainstSSHD(t *testing.T) {
	me := strings.TrimSpace(run(t, "", "id", "-un"))
	ed, rsa, ecdsa := ed25519Key(t, "host"), rsaKey(t), ecdsaKey(t)
	locked := keygen(t, "ed25519 secret", "-t", "ed25519", "-N", "secret", "-a", "1")
	for name, tc := range map[string]struct {
		user, host sshKey
		password   string
	}{
		"ed25519":   {ed25519Key(t, "user"), ed, ""},
		"rsa":       {keygen(t, "rsa pem", "-t", "rsa", "-b", "2048", "-N", "", "-m", "PEM"), rsa, ""},
		"ecdsa":     {keygen(t, "ecdsa pem", "-t", "ecdsa", "-N", "", "-m", "PEM"), ecdsa, ""},
		"encrypted": {locked, ed, "secret"},
	} {
		addr := sshd(t, tc.user, ed, rsa, ecdsa)
		host, port, _ := net.SplitHostPort(addr)
		secret := map[string]string{"identity": tc.user.private, "known_hosts": tc.host.line("[" + host + "]:" + port), "password": tc.password}
		a := mustAuth(t, "ssh://"+me+"@"+addr+"/r.git", secret)
		if err := handshake(t, addr, a.SSH); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
