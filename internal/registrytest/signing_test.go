package registrytest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// signingKey is a throw-away OpenPGP key of the kind that the registries take:
// RSA.
type signingKey struct {
	id     string // as registries and CLIs print it
	public string // ASCII-armoured
	entity *openpgp.Entity
}

func newKey(t *testing.T) signingKey {
	t.Helper()
	entity, err := openpgp.NewEntity("Throw-away", "made by a test", "release@example.com", &packet.Config{RSABits: 2048})
	if err != nil {
		t.Fatal(err)
	}
	var public bytes.Buffer
	w, err := armor.Encode(&public, openpgp.PublicKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := entity.Serialize(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return signingKey{fmt.Sprintf("%016X", entity.PrimaryKey.KeyId), public.String(), entity}
}

// signedRelease returns the release under test, signed, and the key: a throw-away
// one, or of the files in GITPIN_DIST the one in GITPIN_DIST_KEY.
func signedRelease(t *testing.T) (release, signingKey) {
	t.Helper()
	r, path := theRelease(t), os.Getenv("GITPIN_DIST_KEY")
	if path == "" {
		key := newKey(t)
		key.sign(t, r)
		return r, key
	}
	public, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := openpgp.ReadArmoredKeyRing(bytes.NewReader(public))
	if err != nil || len(keys) != 1 {
		t.Fatalf("%s holds %d keys: %v", path, len(keys), err)
	}
	signature := r.file("SHA256SUMS.sig")
	if r.files[signature], err = os.ReadFile(filepath.Join(os.Getenv("GITPIN_DIST"), signature)); err != nil {
		t.Fatal(err)
	}
	return r, signingKey{fmt.Sprintf("%016X", keys[0].PrimaryKey.KeyId), string(public), keys[0]}
}

// sign adds the detached, binary signature of SHA256SUMS to the release.
func (k signingKey) sign(t *testing.T, r release) {
	t.Helper()
	var signature bytes.Buffer
	if err := openpgp.DetachSign(&signature, k.entity, bytes.NewReader(r.files[r.file("SHA256SUMS")]), nil); err != nil {
		t.Fatal(err)
	}
	r.files[r.file("SHA256SUMS.sig")] = signature.Bytes()
}
