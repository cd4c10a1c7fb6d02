package lsremote

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitref"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// parseV0 reads an advertisement of version 0 or 1 and tells where reading
// stopped: how many bytes were not handed out.
func parseV0(b []byte, q Query) (a *Advertisement, stopped bool, c *collector, err error) {
	p := packets(b)
	c = newCollector(q.Normalize(), 1<<20)
	line, ok, err := p.line()
	if err != nil {
		return nil, false, c, err
	}
	a, stopped, err = readVersion0(p, c, line, ok)
	return a, stopped, c, err
}

const someCaps = "\x00multi_ack symref=HEAD:refs/heads/main symref=refs/remotes/o/HEAD:refs/remotes/o/x object-format=sha1 agent=git/x"

func TestReadV0(t *testing.T) {
	answer := pkts(
		idA+" HEAD"+someCaps,
		idB+" refs/heads/HEAD",
		idA+" refs/heads/main",
		idB+" refs/heads/main2",
		idC+" refs/remotes/o/HEAD",
		idC+" .have",
		idB+" refs/tags/v1",
		idA+" refs/tags/v1^{}",
		idC+" refs/tags/v2",
		"shallow "+idB,
	)
	head := Ref{Name: "HEAD", ID: idA, Target: "refs/heads/main"}
	branchHead := Ref{Name: "refs/heads/HEAD", ID: idB}
	main := Ref{Name: "refs/heads/main", ID: idA}
	main2 := Ref{Name: "refs/heads/main2", ID: idB}
	remote := Ref{Name: "refs/remotes/o/HEAD", ID: idC, Target: "refs/remotes/o/x"}
	v1 := Ref{Name: "refs/tags/v1", ID: idB, Peeled: idA}
	v2 := Ref{Name: "refs/tags/v2", ID: idC}
	for name, c := range map[string]struct {
		q       Query
		want    []Ref
		stopped bool
		seen    int
	}{
		"everything":               {Everything(), []Ref{head, branchHead, main, main2, remote, v1, v2}, false, 7},
		"HEAD":                     {refs("HEAD"), []Ref{head}, true, 2},
		"a branch":                 {refs("refs/heads/main"), []Ref{main}, true, 4},
		"two":                      {refs("refs/heads/main", "HEAD"), []Ref{head, main}, true, 4},
		"an annotated tag":         {refs("refs/tags/v1"), []Ref{v1}, true, 6},
		"before a .have":           {refs("refs/remotes/o/HEAD"), []Ref{remote}, true, 5},
		"the last, then shallow":   {refs("refs/tags/v2"), []Ref{v2}, true, 7},
		"a name that is not there": {refs("refs/heads/main", "refs/heads/aaa"), []Ref{main}, false, 7},
		"a prefix reads on":        {prefix("refs/heads/main"), []Ref{main, main2}, false, 7},
	} {
		a, stopped, col, err := parseV0(answer, c.q)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(a.Refs, c.want) || stopped != c.stopped || col.seen != c.seen {
			t.Errorf("%s: stopped %t after %d, got %+v", name, stopped, col.seen, a.Refs)
		}
		if a.Protocol != 0 || a.ObjectFormat != "sha1" || a.Empty {
			t.Errorf("%s: got %+v", name, a)
		}
	}
}

func TestReadV0Forms(t *testing.T) {
	for name, c := range map[string]struct {
		in      []byte
		version int
		format  string
		empty   bool
		want    []Ref
	}{
		"empty, a flush":          {pkts(), 0, "sha1", true, nil},
		"empty, capabilities":     {pkts(idZero + " capabilities^{}\x00object-format=sha1"), 0, "sha1", true, nil},
		"empty, SHA-256":          {pkts(strings.Repeat("0", 64) + " capabilities^{}\x00object-format=sha256"), 0, "sha256", true, nil},
		"empty, shallow":          {pkts(idZero+" capabilities^{}\x00x", "shallow "+idA), 0, "sha1", true, nil},
		"version 1":               {pkts("version 1", idA+" HEAD\x00x"), 1, "sha1", false, []Ref{{Name: "HEAD", ID: idA}}},
		"version 1, empty":        {pkts("version 1"), 1, "sha1", true, nil},
		"no capabilities at all":  {pkts(idA+" refs/heads/a", idB+" refs/heads/b"), 0, "sha1", false, []Ref{{Name: "refs/heads/a", ID: idA}, {Name: "refs/heads/b", ID: idB}}},
		"no capability in them":   {pkts(idA + " refs/heads/a\x00"), 0, "sha1", false, []Ref{{Name: "refs/heads/a", ID: idA}}},
		"no final LF":             {join(gittest.Pkt(idA+" refs/heads/a\x00x"), []byte("0000")), 0, "sha1", false, []Ref{{Name: "refs/heads/a", ID: idA}}},
		"SHA-256":                 {pkts(long+" refs/tags/a\x00 object-format=sha256", long+" refs/tags/a^{}"), 0, "sha256", false, []Ref{{Name: "refs/tags/a", ID: long, Peeled: long}}},
		"not sorted":              {pkts(idA+" refs/heads/b\x00x", idB+" refs/heads/a"), 0, "sha1", false, []Ref{{Name: "refs/heads/a", ID: idB}, {Name: "refs/heads/b", ID: idA}}},
		"upper-case ids":          {pkts(strings.ToUpper(idA) + " refs/heads/a\x00x"), 0, "sha1", false, []Ref{{Name: "refs/heads/a", ID: idA}}},
		"a detached HEAD":         {pkts(idA+" HEAD\x00symref=x", idA+" refs/heads/main"), 0, "sha1", false, []Ref{{Name: "HEAD", ID: idA}, {Name: "refs/heads/main", ID: idA}}},
		"a symref without a name": {pkts(idA + " HEAD\x00symref=HEAD:.. symref= symref"), 0, "sha1", false, []Ref{{Name: "HEAD", ID: idA}}},
		"only .have":              {pkts(idA + " .have\x00x"), 0, "sha1", true, nil},
		"names that are no UTF-8": {pkts(idA+" refs/tags/caf\xe9\x00x", idB+" refs/tags/caf\xe9^{}", idA+" refs/tags/v"), 0, "sha1", false, []Ref{{Name: "refs/tags/v", ID: idA}}},
	} {
		a, _, _, err := parseV0(c.in, Everything())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a.Protocol != c.version || a.ObjectFormat != c.format || a.Empty != c.empty || !reflect.DeepEqual(a.Refs, c.want) {
			t.Errorf("%s: got %+v", name, a)
		}
	}
}

func TestReadV0Errors(t *testing.T) {
	for name, in := range map[string][]byte{
		"a web page in a packet":      pkts("<html>"),
		"no space":                    pkts(idA),
		"no name":                     pkts(idA + " \x00x"),
		"an id that is no hex":        pkts("x" + idA[1:] + " HEAD\x00x"),
		"a SHA-256 id, not announced": pkts(long + " HEAD\x00x"),
		"an unknown format":           pkts(idA + " HEAD\x00object-format=md5"),
		"an id of zeros":              pkts(idZero + " HEAD\x00x"),
		"peeled to zeros":             pkts(idA+" refs/tags/a\x00x", idZero+" refs/tags/a^{}"),
		"peeled before the tag":       pkts(idA+" HEAD\x00x", idB+" refs/tags/a^{}", idA+" refs/tags/a"),
		"peeled, but not next":        pkts(idA+" refs/tags/a\x00x", idA+" refs/tags/b", idB+" refs/tags/a^{}"),
		"peeled twice":                pkts(idA+" refs/tags/a\x00x", idB+" refs/tags/a^{}", idC+" refs/tags/a^{}"),
		"capabilities not first":      pkts(idA+" HEAD\x00x", idZero+" capabilities^{}"),
		"capabilities, then a ref":    pkts(idZero+" capabilities^{}\x00x", idA+" HEAD"),
		"capabilities, not zero":      pkts(idA + " capabilities^{}\x00x"),
		"a ref after shallow":         pkts(idA+" HEAD\x00x", "shallow "+idA, idA+" refs/heads/a"),
		"shallow without an id":       pkts(idA+" HEAD\x00x", "shallow x"),
		"a second NUL line":           pkts(idA+" HEAD\x00x", idA+" refs/heads/a\x00b"),
		"a LF in a name":              pkts(idA + " refs/heads/a\nb\x00x"),
		"an impossible name":          pkts(idA + " refs/heads/a b\x00x"),
		"twice":                       pkts(idA+" refs/heads/a\x00x", idB+" refs/heads/b", idC+" refs/heads/a"),
		"version 1 twice":             pkts("version 1", "version 1"),
		"version 3":                   pkts("version 3"),
		"a delimiter":                 join(pkts(idA + " HEAD\x00x")[:50], []byte("00010000")),
	} {
		a, _, _, err := parseV0(in, Everything())
		if fault.KindOf(err) != fault.Protocol || a != nil {
			t.Errorf("%s: got %+v, %v", name, a, err)
		}
	}
	_, _, _, err := parseV0(pkts("ERR access denied or repository not exported: /x"), Everything())
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("an error packet: %v", err)
	}
}

// A reply that was cut is an error, unless all that was asked for, and the
// line after it, had gone by.
func TestReadV0Truncated(t *testing.T) {
	whole := pkts(idA+" HEAD"+someCaps, idA+" refs/heads/main", idB+" refs/tags/v1", idC+" refs/tags/v1^{}", idB+" refs/tags/v2")
	upTo := func(marker string) int { return strings.Index(string(whole), marker) + len(marker) + 1 }
	for _, c := range []struct {
		q    Query
		from int // from how many bytes on the answer is complete
		want Ref
	}{
		{Everything(), len(whole), Ref{}},
		{prefix("refs/tags/v1"), len(whole), Ref{}},
		{refs("refs/heads/gone"), len(whole), Ref{}},
		{refs("HEAD"), upTo("refs/heads/main\n") - 1, Ref{Name: "HEAD", ID: idA, Target: "refs/heads/main"}},
		{refs("refs/tags/v1"), upTo("v1^{}\n") - 1, Ref{Name: "refs/tags/v1", ID: idB, Peeled: idC}},
		{refs("refs/tags/v2"), len(whole), Ref{Name: "refs/tags/v2", ID: idB}},
	} {
		for n := range len(whole) + 1 {
			a, _, _, err := parseV0(whole[:n], c.q)
			if (err == nil) != (n >= c.from) || err != nil && !isCut(err) {
				t.Fatalf("%s: %d of %d bytes: got %+v, %v", c.q, n, len(whole), a, err)
			}
			if err == nil && c.want.Name != "" && a.Refs[0] != c.want {
				t.Fatalf("%s: %d of %d bytes: got %+v", c.q, n, len(whole), a.Refs)
			}
		}
	}
}

// A ref that is not wanted costs no memory, whatever its number.
func TestReadV0AllocatesNothingPerUnwantedRef(t *testing.T) {
	stream := func(n int) []byte {
		lines := []string{idA + " HEAD" + someCaps}
		for i := range n {
			lines = append(lines, idB+" refs/heads/work/"+strconv.Itoa(i), idB+" refs/tags/t"+strconv.Itoa(i), idC+" refs/tags/t"+strconv.Itoa(i)+"^{}")
		}
		return pkts(lines...)
	}
	q := Query{Refs: []string{"refs/heads/zzz"}, Prefixes: []string{"refs/heads/release/", "refs/pull/"}}
	// What other tests have left in the background allocates at times, too. That
	// only adds, so the least of several counts is the parser's own.
	allocs := func(b []byte) float64 {
		least := math.Inf(1)
		for range 10 {
			least = min(least, testing.AllocsPerRun(10, func() {
				if _, _, _, err := parseV0(b, q); err != nil {
					t.Fatal(err)
				}
			}))
		}
		return least
	}
	few, many := allocs(stream(300)), allocs(stream(3000))
	if many > few+3 { // the buffer may grow
		t.Errorf("%.0f allocations for 600 refs, %.0f for 6,000", few, many)
	}
}

func TestPlainName(t *testing.T) {
	for name, want := range map[string]bool{
		"refs/heads/main": true, "refs/tags/v1.2.3-rc_1": true, "refs/a": true, "refs/heads/a.b/c": true,
		"HEAD": false, "refs/": false, "refs/heads/": false, "refs//a": false, "refs/.a": false, "refs/a..b": false,
		"refs/a.": false, "refs/a./b": false, "refs/a.lock": false, "refs/a.l": false, "refs/a b": false, "refs/a@{b": false, "refs/\xe9": false, "heads/a": false,
	} {
		if got := plainName([]byte(name)); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

// What is plain must be legal.
func FuzzPlainName(f *testing.F) {
	for _, name := range []string{"refs/heads/main", "refs/tags/v1.lock", "refs/a/.b", "refs/heads/a..b"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if err := gitref.CheckFull(name); err != nil && plainName([]byte(name)) {
			t.Errorf("%q: %v", name, err)
		}
	})
}

// checkAdvertisement checks what holds for every advertisement, whatever the
// server sent.
func checkAdvertisement(t *testing.T, a *Advertisement) {
	t.Helper()
	size := gitref.IDLen(a.ObjectFormat)
	for i, r := range a.Refs {
		id := func(s string) bool { return len(s) == size && gitref.IsID(s) && strings.Trim(s, "0") != "" }
		switch {
		case gitref.CheckFull(r.Name) != nil, !utf8.ValidString(r.Name), strings.HasSuffix(r.Name, "^{}"):
			t.Fatalf("the name %q", r.Name)
		case !id(r.ID), r.Peeled != "" && !id(r.Peeled):
			t.Fatalf("%s has the ids %q, %q", r.Name, r.ID, r.Peeled)
		case r.Target != "" && (gitref.CheckFull(r.Target) != nil || !utf8.ValidString(r.Target)):
			t.Fatalf("%s points at %q", r.Name, r.Target)
		case i > 0 && a.Refs[i-1].Name >= r.Name:
			t.Fatalf("%s before %s", a.Refs[i-1].Name, r.Name)
		}
	}
	if a.Empty && len(a.Refs) > 0 {
		t.Fatalf("empty, with %d refs", len(a.Refs))
	}
}

// compareNarrow checks that some holds the refs of all that begin with prefix.
func compareNarrow(t *testing.T, all, some *Advertisement, prefix string) {
	t.Helper()
	checkAdvertisement(t, some)
	var want []Ref
	for _, r := range all.Refs {
		if strings.HasPrefix(r.Name, prefix) {
			want = append(want, r)
		}
	}
	if !reflect.DeepEqual(want, some.Refs) {
		t.Fatalf("want %+v, got %+v", want, some.Refs)
	}
}

func FuzzReadV0(f *testing.F) {
	f.Add(pkts(idA+" HEAD"+someCaps, idA+" refs/heads/main", idB+" refs/tags/v1", idC+" refs/tags/v1^{}", "shallow "+idA), "refs/heads/main")
	f.Add(pkts(idZero+" capabilities^{}\x00object-format=sha1"), "HEAD")
	f.Add(pkts("version 1", long+" HEAD\x00object-format=sha256"), "HEAD")
	f.Fuzz(func(t *testing.T, in []byte, name string) {
		all, _, _, err := parseV0(in, Everything())
		if err != nil {
			return
		}
		checkAdvertisement(t, all)
		some, _, _, err := parseV0(in, prefix("refs/heads/"))
		if err != nil {
			t.Fatal(err)
		}
		compareNarrow(t, all, some, "refs/heads/")
		if gitref.CheckFull(name) != nil {
			return
		}
		// Leaving the stream early changes nothing.
		one, _, _, err := parseV0(in, refs(name))
		if err != nil {
			t.Fatal(err)
		}
		want, there := all.Lookup(name)
		if got, found := one.Lookup(name); found != there || got != want {
			t.Fatalf("want %+v, got %+v", want, got)
		}
	})
}
