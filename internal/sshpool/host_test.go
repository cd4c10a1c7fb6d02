package sshpool

import (
	"fmt"
	"testing"
	"time"
)

// Where callers have waited for their sessions for longer than a connection
// takes, another one is made, if there is no room to open sessions ahead.
func TestHostMakesRoomWhereWaitingCostsMore(t *testing.T) {
	for name, test := range map[string]struct {
		sessions int           // that run
		waited   time.Duration // by one more caller
		since    time.Duration // the last connection was made
		want     int
	}{
		"worth it":                 {4, time.Hour, 2 * time.Hour, 2},
		"room enough":              {2, time.Hour, 2 * time.Hour, 1},
		"a short wait":             {4, time.Millisecond, 2 * time.Hour, 1},
		"waited for the last dial": {4, time.Hour, time.Minute, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			s := newServer(t, nil)
			s.exec = g.exec(s)
			p := newPool(t, Options{})
			auth := s.auth()
			for i := range test.sessions {
				session, err := p.Session(t.Context(), s.addr(), auth, nil, fmt.Sprint(i))
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				<-g.started
			}
			h := p.connections()[0].host
			p.mu.Lock()
			h.lastDial, h.dialTook, h.waited = time.Now().Add(-test.since), time.Minute, 0
			p.mu.Unlock()
			h.opened(time.Now().Add(-test.waited))
			p.mu.Lock()
			dialling := len(h.dials)
			p.mu.Unlock()
			if dialling != test.want-1 {
				t.Errorf("%d dials under way, want %d", dialling, test.want-1)
			}
			eventually(t, "all connections are made", func() bool { return len(p.connections()) == test.want })
		})
	}
}

// A session goes to the connection where it need not wait.
func TestHostPrefersASessionThatIsOpen(t *testing.T) {
	open, shut := make(chan struct{}), make(chan struct{})
	close(open)
	live := func() *watchedConn { return &watchedConn{heard: time.Now()} }
	p := &Pool{maxSessions: 5}
	h := &host{pool: p}
	a := &conn{host: h, raw: live(), limit: 5, spares: []*slot{{opened: shut}, {opened: shut}}}
	b := &conn{host: h, raw: live(), limit: 5, inUse: 3, spares: []*slot{{opened: open}}}
	h.conns = []*conn{a, b}
	if got, want := h.take(), b; len(want.spares) != 0 || want.inUse != 4 || got == nil {
		t.Errorf("it took another: %d spares left on the one that has an open one", len(want.spares))
	}
	if h.take(); len(a.spares) != 1 {
		t.Error("the second was not taken from the connection with the most room")
	}
}
