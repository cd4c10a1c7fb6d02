package gitauth

import (
	"encoding/pem"
	"errors"
	"strings"

	"golang.org/x/crypto/ssh"
)

// sha2 makes an RSA key sign with SHA-2 only. x/crypto would fall back to SHA-1
// for a server that does not say what it takes; OpenSSH refuses since 8.8. A key
// of another type is returned as it is.
func sha2(signer ssh.Signer) ssh.Signer {
	with, ok := signer.(ssh.AlgorithmSigner)
	if kind := signer.PublicKey().Type(); ok && (kind == ssh.KeyAlgoRSA || kind == ssh.CertAlgoRSAv01) {
		if only, err := ssh.NewSignerWithAlgorithms(with, []string{ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSASHA512}); err == nil {
			return only
		}
	}
	return signer
}

// parseIdentity reads an ssh private key in any format that OpenSSH writes. The
// passphrase is not used when the key is not encrypted. A missing final line
// break, CRLF and blanks at line ends are forgiven; whatever else has happened
// to the text is named. Errors are problems and show nothing of either.
func parseIdentity(identity, passphrase string) (ssh.Signer, error) {
	text := withoutParameters([]byte(normalize(identity)))
	signer, err := ssh.ParsePrivateKey(text)
	if err == nil {
		return signer, nil
	}
	var missing *ssh.PassphraseMissingError
	if !errors.As(err, &missing) {
		return nil, identityProblem(string(text))
	}
	if passphrase == "" {
		return nil, &problem{key: keyIdentity, what: "the private key is encrypted and there is no passphrase",
			advice: "Set password in the same secret to the key's passphrase, or use a key without one."}
	}
	signer, err = ssh.ParsePrivateKeyWithPassphrase(text, []byte(passphrase))
	switch {
	case err == nil:
		return signer, nil
	case strings.Contains(err.Error(), ": unknown "), strings.Contains(err.Error(), "KDF"):
		// Neither x/crypto nor x509 has a type for it. A wrong passphrase may
		// come to any other error: it makes random bytes of the key.
		return nil, &problem{key: keyIdentity, what: "the private key is encrypted in a way that is not supported",
			advice: "Rewrite it with `ssh-keygen -p -f key`, which encrypts it by aes256-ctr."}
	}
	return nil, passphraseProblem(passphrase)
}

// withoutParameters drops the block of curve parameters that `openssl ecparam
// -genkey` writes before a key, as OpenSSH does.
func withoutParameters(text []byte) []byte {
	if block, rest := pem.Decode(text); block != nil && block.Type == "EC PARAMETERS" {
		return rest
	}
	return text
}

func passphraseProblem(passphrase string) error {
	p := &problem{key: keyPassword, what: "the passphrase does not match the encrypted private key in identity",
		advice: "Set password to the passphrase of that key."}
	switch {
	case strings.HasSuffix(passphrase, "\n"), strings.HasSuffix(passphrase, "\r"):
		p.what += "; it ends in a line break, which counts as part of it"
		p.advice = "Take the line break off with trimspace(…)."
	case strings.TrimSpace(passphrase) != passphrase:
		p.what += "; it begins or ends with white space, which counts as part of it"
		p.advice = "Take the white space off with trimspace(…), unless it belongs there."
	}
	return p
}

// identityProblem says why normalized text is no usable private key.
func identityProblem(text string) error {
	fault := func(what, advice string) error {
		return &problem{key: keyIdentity, what: what, advice: advice}
	}
	body := strings.TrimSpace(text)
	if looksPublic(body) {
		return fault("looks like a public key", "Give the private key, the file without .pub.")
	}
	if strings.HasPrefix(body, "PuTTY-User-Key-File-") {
		return fault("is a PuTTY key", "Convert it with `puttygen key.ppk -O private-openssh -o key`.")
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		if looksLikePath(body) {
			return fault("is not a private key: "+pathWhat, pathAdvice)
		}
		if what, advice := pemDamage(text); what != "" {
			return fault(what, advice)
		}
		return fault("is not a private key", "Give the text that begins with -----BEGIN OPENSSH PRIVATE KEY----- or similar.")
	}
	switch {
	case block.Type == "ENCRYPTED PRIVATE KEY":
		return fault("is encrypted in PKCS#8, which neither this provider nor Flux reads",
			"Rewrite it in OpenSSH's format with `ssh-keygen -p -f key`.")
	case block.Type == "DSA PRIVATE KEY":
		return fault("is a DSA key, which servers no longer accept", "Make a new one with `ssh-keygen -t ed25519`.")
	case strings.Contains(string(block.Bytes), "sk-ssh-ed25519"), strings.Contains(string(block.Bytes), "sk-ecdsa-"):
		return fault("belongs to a hardware security key, which cannot sign without it", "Use a key that is a file.")
	}
	return fault("is damaged, or of a kind that is not supported",
		"Supported are ed25519, ecdsa and rsa keys in OpenSSH or PEM format; check it with `ssh-keygen -y -f key`.")
}

// looksPublic tells the forms of a public key: authorized_keys, RFC 4716, PEM.
func looksPublic(body string) bool {
	for _, prefix := range []string{
		"ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-",
		"---- BEGIN SSH2 PUBLIC KEY", "-----BEGIN PUBLIC KEY", "-----BEGIN RSA PUBLIC KEY", "-----BEGIN SSH2 PUBLIC KEY",
	} {
		if strings.HasPrefix(body, prefix) {
			return true
		}
	}
	return false
}
