package registrytest

import (
	"bytes"
	"fmt"
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

// sign adds the detached, binary signature of SHA256SUMS to the release.
func (k signingKey) sign(t *testing.T, r release) {
	t.Helper()
	var signature bytes.Buffer
	if err := openpgp.DetachSign(&signature, k.entity, bytes.NewReader(r.files[r.file("SHA256SUMS")]), nil); err != nil {
		t.Fatal(err)
	}
	r.files[r.file("SHA256SUMS.sig")] = signature.Bytes()
}
