package gittest

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
)

// EncryptedKey returns the key of c under a passphrase as "openssl pkcs8"
// writes it today: PKCS#8 with PBES2, PBKDF2 and AES-256-CBC (RFC 8018).
func (c Cert) EncryptedKey(passphrase string) (string, error) {
	block, _ := pem.Decode([]byte(c.Key))
	if block == nil {
		return "", errors.New("encrypting a key: the certificate has none")
	}
	der, err := encryptPKCS8(block.Bytes, passphrase)
	if err != nil {
		return "", fmt.Errorf("encrypting a key: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: der})), nil
}

// LegacyEncryptedKey returns the key of c under a passphrase in the format of
// OpenSSL before 1.0, with the cipher in a PEM header (RFC 1421).
func (c Cert) LegacyEncryptedKey(passphrase string) (string, error) {
	pair, err := c.TLS()
	if err != nil {
		return "", fmt.Errorf("encrypting a key: %w", err)
	}
	text, err := legacyPEM(pair.PrivateKey, passphrase)
	if err != nil {
		return "", fmt.Errorf("encrypting a key: %w", err)
	}
	return text, nil
}

var (
	oidPBES2      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidHMACSHA256 = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
	oidAES256CBC  = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
)

type pbkdf2Parameters struct {
	Salt       []byte
	Iterations int
	PRF        pkix.AlgorithmIdentifier
}

type pbes2Parameters struct {
	KeyDerivation, Cipher pkix.AlgorithmIdentifier
}

type encryptedPrivateKeyInfo struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

// encryptPKCS8 wraps a PKCS#8 key in an EncryptedPrivateKeyInfo.
func encryptPKCS8(plain []byte, passphrase string) ([]byte, error) {
	const iterations = 2048 // OpenSSL's default
	salt, iv := make([]byte, 16), make([]byte, aes.BlockSize)
	_, _ = rand.Read(salt) // never fails
	_, _ = rand.Read(iv)
	key, err := pbkdf2.Key(sha256.New, passphrase, salt, iterations, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	padding := aes.BlockSize - len(plain)%aes.BlockSize
	data := append([]byte{}, plain...)
	for range padding {
		data = append(data, byte(padding))
	}
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(data, data)

	derivation, err := algorithm(oidPBKDF2, pbkdf2Parameters{salt, iterations, pkix.AlgorithmIdentifier{Algorithm: oidHMACSHA256, Parameters: asn1.NullRawValue}})
	if err != nil {
		return nil, err
	}
	encryption, err := algorithm(oidAES256CBC, iv)
	if err != nil {
		return nil, err
	}
	scheme, err := algorithm(oidPBES2, pbes2Parameters{derivation, encryption})
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(encryptedPrivateKeyInfo{scheme, data})
}

// legacyPEM writes an RSA or ECDSA key as programs did before PKCS#8, encrypted
// as they did if passphrase is not "".
func legacyPEM(key crypto.PrivateKey, passphrase string) (string, error) {
	block := &pem.Block{}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		block.Type, block.Bytes = "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)
	case *ecdsa.PrivateKey:
		der, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			return "", err
		}
		block.Type, block.Bytes = "EC PRIVATE KEY", der
	default:
		return "", errors.New("only rsa and ecdsa keys have a legacy format")
	}
	if passphrase != "" {
		var err error
		block, err = x509.EncryptPEMBlock(rand.Reader, block.Type, block.Bytes, []byte(passphrase), x509.PEMCipherAES128) //nolint:staticcheck // people still have such keys
		if err != nil {
			return "", err
		}
	}
	return string(pem.EncodeToMemory(block)), nil
}

// algorithm returns an identifier with parameters.
func algorithm(oid asn1.ObjectIdentifier, parameters any) (pkix.AlgorithmIdentifier, error) {
	der, err := asn1.Marshal(parameters)
	return pkix.AlgorithmIdentifier{Algorithm: oid, Parameters: asn1.RawValue{FullBytes: der}}, err
}
