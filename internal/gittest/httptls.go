package gittest

import (
	"crypto/tls"
	"crypto/x509"
)

// TLSOptions says how an https server is set up. The zero value is a new CA
// with a certificate for loopback, no client certificate asked for, HTTP/1.1.
type TLSOptions struct {
	CA         *CA         // default: a new one
	Cert       CertOptions // what the server's certificate holds
	Pair       *Cert       // the server's certificate itself, in place of Cert
	ClientCert bool        // let in only clients with a certificate that CA has issued
	HTTP2      bool
	MaxVersion uint16 // of TLS, also below 1.2; 0 is the newest
}

// server returns the CA and the configuration of a server.
func (o TLSOptions) server() (*CA, *tls.Config, error) {
	ca := o.CA
	var err error
	if ca == nil {
		if ca, err = NewCA(); err != nil {
			return nil, nil, err
		}
	}
	var pair Cert
	if o.Pair != nil {
		pair = *o.Pair
	} else if pair, err = ca.Issue(o.Cert); err != nil {
		return nil, nil, err
	}
	cert, err := pair.TLS()
	if err != nil {
		return nil, nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if o.MaxVersion != 0 {
		config.MaxVersion, config.MinVersion = o.MaxVersion, min(config.MinVersion, o.MaxVersion)
	}
	if o.ClientCert {
		config.ClientAuth = tls.RequireAndVerifyClientCert
		config.ClientCAs = x509.NewCertPool()
		config.ClientCAs.AddCert(ca.cert)
	}
	return ca, config, nil
}
