// Package gitauth turns the provider's credentials into what a reading can
// use: an Authorization header, TLS material, or an ssh key with the host keys
// to accept.
//
// A secret has the keys of a Flux Git secret and is parsed by the very function
// that Flux's source-controller uses (git.NewAuthOptions), so that one Secret
// serves the cluster and the plan. On top of it this package finds, before
// anything is dialled, the faults that otherwise surface as a refused password
// or an unknown authority, and names the key that has them.
//
// Nothing here reads an agent, a file in the home directory, a credential
// helper or the environment unless Options.Ambient asks for it; the exceptions
// are the system's certificate store and, for a GitHub App's API call, the
// proxy variables.
//
// No error, String or Format of this package shows a value of a secret.
package gitauth
