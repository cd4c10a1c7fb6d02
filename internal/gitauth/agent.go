package gitauth

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// agentPatience bounds one exchange with an ssh agent: ssh's callbacks carry no
// context, and an agent may wait for a person.
const agentPatience = 10 * time.Second

// agentAuth logs in with the keys of the ssh agent. The agent is asked when a
// server wants a key, and its socket is open only while it answers.
func agentAuth(r giturl.Remote, knownHosts string, hostKeys *HostKeys) (*Auth, error) {
	socket := os.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return nil, &problem{key: "ambient.ssh_agent", what: "there is no agent, SSH_AUTH_SOCK is not set",
			advice: "Start ssh-agent and add a key, or give identity in the secret of a credentials entry."}
	}
	user := r.User
	if user == "" {
		user = "git" // as with an identity
	}
	methods := []ssh.AuthMethod{ssh.PublicKeysCallback(func() ([]ssh.Signer, error) { return agentSigners(socket) })}
	return &Auth{
		ID:  opaqueID("agent", socket, user, knownHosts),
		SSH: &SSH{User: user, Methods: methods, HostKeys: hostKeys},
	}, nil
}

// agentSigners returns one signer for each key of the agent.
func agentSigners(socket string) ([]ssh.Signer, error) {
	var signers []ssh.Signer
	err := withAgent(socket, func(a agent.Agent) error {
		keys, err := a.List()
		for _, key := range keys {
			public, err := ssh.ParsePublicKey(key.Blob)
			if err == nil { // a kind of key that Go does not know is left out
				signers = append(signers, sha2(agentSigner{socket, public}))
			}
		}
		return err
	})
	if err != nil {
		return nil, agentError("the ssh agent does not answer", err)
	}
	if len(signers) == 0 {
		return nil, agentError("the ssh agent has no key", nil)
	}
	return signers, nil
}

func agentError(happened string, err error) error {
	return &fault.Error{Kind: fault.Credentials, Phase: fault.PhaseAuth, Happened: happened, Err: err,
		Advice: "Check it with `ssh-add -l`, or give identity in the secret of a credentials entry."}
}

func withAgent(socket string, use func(agent.Agent) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), agentPatience)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // the answer is in
	if err := conn.SetDeadline(time.Now().Add(agentPatience)); err != nil {
		return err
	}
	return use(agent.NewClient(conn))
}

// agentSigner signs by one key of an agent.
type agentSigner struct {
	socket string
	public ssh.PublicKey
}

// PublicKey returns the key's public half.
func (s agentSigner) PublicKey() ssh.PublicKey { return s.public }

// Sign signs with the key type's own algorithm.
func (s agentSigner) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	return s.SignWithAlgorithm(rand, data, s.public.Type())
}

// SignWithAlgorithm makes SHA-2 signatures possible for RSA keys (RFC 8332).
func (s agentSigner) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	var signature *ssh.Signature
	err := withAgent(s.socket, func(a agent.Agent) error {
		signers, err := a.Signers()
		if err != nil {
			return err
		}
		for _, signer := range signers {
			if with, ok := signer.(ssh.AlgorithmSigner); ok && equalKeys(signer.PublicKey(), s.public) {
				signature, err = with.SignWithAlgorithm(rand, data, algorithm)
				return err
			}
		}
		return errors.New("the key is gone")
	})
	if err != nil {
		return nil, agentError("the ssh agent does not sign", err)
	}
	return signature, nil
}
