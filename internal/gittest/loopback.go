package gittest

import "net"

// anyPort returns an address on loopback for which the system chooses the
// port.
func anyPort(ipv6 bool) string {
	if ipv6 {
		return "[::1]:0"
	}
	return "127.0.0.1:0"
}

// reset closes c so that the peer gets a TCP reset, not an end of file; under
// TLS too.
func reset(c net.Conn) {
	if tls, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = tls.NetConn()
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// closeWrite tells the peer that nothing more comes, and still reads.
func closeWrite(c net.Conn) {
	if tcp, ok := c.(interface{ CloseWrite() error }); ok {
		_ = tcp.CloseWrite()
	}
}
