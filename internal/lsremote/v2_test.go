package lsremote

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

func parseV2(b []byte, q Query, caps capabilities) (*Advertisement, *collector, error) {
	c := newCollector(q.Normalize(), 1<<20)
	a, err := readLsRefs(packets(b), c, caps)
	return a, c, err
}

func TestReadLsRefs(t *testing.T) {
	answer := pkts(
		idA+" HEAD symref-target:refs/heads/main",
		idB+" refs/heads/HEAD",
		idA+" refs/heads/main new-attribute:x",
		idB+" refs/heads/main2",
		idB+" refs/tags/v1 peeled:"+idA,
		idB+" refs/tags/v2 peeled:"+strings.ToUpper(idC)+" another symref-target:refs/tags/v1",
		"unborn refs/heads/other symref-target:refs/heads/x",
	)
	head := Ref{Name: "HEAD", ID: idA, Target: "refs/heads/main"}
	branchHead := Ref{Name: "refs/heads/HEAD", ID: idB}
	main := Ref{Name: "refs/heads/main", ID: idA}
	main2 := Ref{Name: "refs/heads/main2", ID: idB}
	v1 := Ref{Name: "refs/tags/v1", ID: idB, Peeled: idA}
	v2 := Ref{Name: "refs/tags/v2", ID: idB, Peeled: idC, Target: "refs/tags/v1"}
	for name, c := range map[string]struct {
		q    Query
		want []Ref
	}{
		"everything":         {Everything(), []Ref{head, branchHead, main, main2, v1, v2}},
		"the branch only":    {refs("refs/heads/main"), []Ref{main}},
		"HEAD is not a name": {refs("HEAD"), []Ref{head}},
		"a prefix":           {prefix("refs/heads/main"), []Ref{main, main2}},
		"a prefix and a ref": {Query{Refs: []string{"HEAD"}, Prefixes: []string{"refs/tags/"}}, []Ref{head, v1, v2}},
		"two prefixes":       {prefix("refs/heads/m", "refs/tags/v2"), []Ref{main, main2, v2}},
		"case counts":        {refs("refs/heads/Main", "refs/tags/V1"), nil},
		"no suffix match":    {refs("main", "heads/main"), nil},
		"a longer name":      {refs("refs/heads/main22", "refs/heads/mai"), nil},
		"refs/ is not HEAD":  {prefix("refs/"), []Ref{branchHead, main, main2, v1, v2}},
		"nothing there":      {refs("refs/heads/gone"), nil},
	} {
		a, col, err := parseV2(answer, c.q, capabilities{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(a.Refs, c.want) {
			t.Errorf("%s: got %+v", name, a.Refs)
		}
		if a.Protocol != 2 || a.ObjectFormat != "sha1" || a.Empty || a.UnbornHead != "" || col.seen != 6 {
			t.Errorf("%s: got %+v, seen %d", name, a, col.seen)
		}
	}
}

func TestReadLsRefsEmpty(t *testing.T) {
	for name, c := range map[string]struct {
		in     []byte
		q      Query
		empty  bool
		unborn string
	}{
		"asked for all":              {pkts(), Everything(), true, ""},
		"asked for some":             {pkts(), prefix("refs/"), false, ""},
		"an unborn HEAD":             {pkts("unborn HEAD symref-target:refs/heads/main"), Everything(), true, "refs/heads/main"},
		"an unborn HEAD by name":     {pkts("unborn HEAD x symref-target:refs/heads/main"), refs("HEAD"), false, "refs/heads/main"},
		"an unborn HEAD, not wanted": {pkts("unborn HEAD symref-target:refs/heads/main"), refs("refs/heads/main"), false, ""},
		"a bad target":               {pkts("unborn HEAD symref-target:refs/heads/..", "unborn HEAD"), Everything(), true, ""},
	} {
		a, _, err := parseV2(c.in, c.q, capabilities{})
		if err != nil || len(a.Refs) != 0 || a.Empty != c.empty || a.UnbornHead != c.unborn {
			t.Errorf("%s: got %+v, %v", name, a, err)
		}
	}
}

func TestReadLsRefsSHA256(t *testing.T) {
	answer := pkts(long+" HEAD symref-target:refs/heads/main", long+" refs/tags/v1 peeled:"+long)
	for name, caps := range map[string]capabilities{"announced": {format: "sha256"}, "told by the first id": {}} {
		a, _, err := parseV2(answer, Everything(), caps)
		if err != nil || a.ObjectFormat != "sha256" || len(a.Refs) != 2 || a.Refs[1].Peeled != long {
			t.Errorf("%s: got %+v, %v", name, a, err)
		}
	}
	a, _, err := parseV2(pkts(), Everything(), capabilities{format: "sha256"})
	if err != nil || a.ObjectFormat != "sha256" {
		t.Errorf("empty: got %+v, %v", a, err)
	}
}

func TestReadLsRefsErrors(t *testing.T) {
	all := Everything()
	for name, c := range map[string]struct {
		in   []byte
		caps capabilities
		kind fault.Kind
	}{
		"no space":                 {pkts(idA), capabilities{}, fault.Protocol},
		"no name":                  {pkts(idA + " "), capabilities{}, fault.Protocol},
		"an empty name":            {pkts(idA + "  peeled:" + idB), capabilities{}, fault.Protocol},
		"an empty line":            {pkts(""), capabilities{}, fault.Protocol},
		"a short id":               {pkts(idA[1:] + " HEAD"), capabilities{}, fault.Protocol},
		"an id that is no hex":     {pkts("g" + idA[1:] + " HEAD"), capabilities{}, fault.Protocol},
		"ids of two lengths":       {pkts(idA+" HEAD", long+" refs/heads/a"), capabilities{}, fault.Protocol},
		"not the announced format": {pkts(idA + " HEAD"), capabilities{format: "sha256"}, fault.Protocol},
		"an unknown format":        {pkts(idA + " HEAD"), capabilities{format: "sha512"}, fault.Protocol},
		"a short peeled id":        {pkts(idA + " refs/tags/a peeled:" + idB[1:]), capabilities{}, fault.Protocol},
		"a peeled id of the other": {pkts(idA + " refs/tags/a peeled:" + long), capabilities{}, fault.Protocol},
		"a peeled id, no hex":      {pkts(idA + " refs/tags/a peeled:" + strings.Repeat("x", 40)), capabilities{}, fault.Protocol},
		"an id of zeros":           {pkts(idZero + " HEAD"), capabilities{}, fault.Protocol},
		"two peeled ids":           {pkts(idA + " refs/tags/a peeled:" + idB + " peeled:" + idC), capabilities{}, fault.Protocol},
		"a peeled id of zeros":     {pkts(idA + " refs/tags/a peeled:" + idZero), capabilities{}, fault.Protocol},
		"a version 0 answer":       {pkts(idA+" HEAD\x00multi_ack", idA+" refs/heads/a"), capabilities{}, fault.Protocol},
		"a peeled line":            {pkts(idA+" refs/tags/a", idB+" refs/tags/a^{}"), capabilities{}, fault.Protocol},
		"no refs in version 0":     {pkts(idZero + " capabilities^{}"), capabilities{}, fault.Protocol},
		"the capabilities again":   {pkts("version 2", "ls-refs"), capabilities{}, fault.Protocol},
		"a NUL in a name":          {pkts(idA + " refs/heads/a\x00b"), capabilities{}, fault.Protocol},
		"a LF in a name":           {pkts(idA + " refs/heads/a\nb"), capabilities{}, fault.Protocol},
		"a control character":      {pkts(idA + " refs/heads/a\x1bb"), capabilities{}, fault.Protocol},
		"two dots":                 {pkts(idA + " refs/heads/a..b"), capabilities{}, fault.Protocol},
		"a lock":                   {pkts(idA + " refs/heads/a.lock"), capabilities{}, fault.Protocol},
		"twice":                    {pkts(idA+" refs/heads/a", idB+" refs/heads/b", idA+" refs/heads/a"), capabilities{}, fault.Protocol},
		"a delimiter":              {join([]byte("0001"), pkts()), capabilities{}, fault.Protocol},
		"an end without a flush":   {[]byte("0002"), capabilities{}, fault.Protocol},
		"an error packet":          {pkts(idA+" HEAD", "ERR repository not found"), capabilities{}, fault.NotFound},
		"nothing":                  {nil, capabilities{}, fault.Protocol},
	} {
		a, _, err := parseV2(c.in, all, c.caps)
		if fault.KindOf(err) != c.kind || a != nil {
			t.Errorf("%s: got %+v, %v", name, a, err)
		}
	}
}

// Names that git allows and Terraform cannot hold are left out, and counted.
func TestReadLsRefsNotUTF8(t *testing.T) {
	a, _, err := parseV2(pkts(idA+" refs/tags/caf\xe9", idB+" refs/tags/v1", idB+" FETCH_HEAD"), Everything(), capabilities{})
	if err != nil || len(a.Refs) != 1 || a.Refs[0].Name != "refs/tags/v1" || a.Skipped != 2 || a.Empty {
		t.Errorf("got %+v, %v", a, err)
	}
}

// A reply that was cut anywhere is an error, and never a shorter list.
func TestReadLsRefsTruncated(t *testing.T) {
	whole := pkts(idA+" HEAD symref-target:refs/heads/main", idA+" refs/heads/main", idB+" refs/tags/v1 peeled:"+idA)
	for n := range whole {
		if a, _, err := parseV2(whole[:n], Everything(), capabilities{}); !isCut(err) || a != nil {
			t.Fatalf("%d of %d bytes: got %+v, %v", n, len(whole), a, err)
		}
	}
}

// What is kept is bounded too, not only what is sent.
func TestReadLsRefsKeepsWithinLimit(t *testing.T) {
	var lines []string
	for i := range 100 {
		lines = append(lines, idA+" refs/heads/"+strings.Repeat("x", i+1))
	}
	answer := pkts(lines...)
	q := Everything()
	if _, err := readLsRefs(newPktReader(bytes.NewReader(answer), 1<<20), newCollector(q, 100*(refOverhead+40+11)+5050), capabilities{}); err != nil {
		t.Errorf("just enough: %v", err)
	}
	_, err := readLsRefs(newPktReader(bytes.NewReader(answer), 1<<20), newCollector(q, 100*(refOverhead+40+11)+5049), capabilities{})
	if fault.KindOf(err) != fault.TooLarge {
		t.Errorf("one byte short: %v", err)
	}
}

func TestReadCapabilities(t *testing.T) {
	for name, c := range map[string]struct {
		in   []byte
		want capabilities
		kind fault.Kind
	}{
		"git 2.39": {pkts("agent=git/2.39.5", "ls-refs=unborn", "fetch=shallow wait-for-done", "server-option", "object-format=sha256", "object-info"),
			capabilities{format: "sha256", agent: true, unborn: true}, ""},
		"git 2.18":           {pkts("agent=git/2.18.0", "ls-refs", "fetch=shallow", "server-option"), capabilities{agent: true}, ""},
		"the least":          {pkts("ls-refs"), capabilities{}, ""},
		"a feature like it":  {pkts("ls-refs=unborn-ish other"), capabilities{}, ""},
		"several features":   {pkts("ls-refs=other unborn"), capabilities{unborn: true}, ""},
		"no ls-refs":         {pkts("agent=x", "fetch", "ls-refs2"), capabilities{}, fault.Protocol},
		"no flush":           {pkts("ls-refs")[:11], capabilities{}, fault.Protocol},
		"an error":           {pkts("ERR access denied"), capabilities{}, fault.Forbidden},
		"a delimiter inside": {[]byte("000cls-refs\n00010000"), capabilities{}, fault.Protocol},
	} {
		got, err := readCapabilities(packets(c.in))
		if got != c.want || fault.KindOf(err) != c.kind {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// Trap 1: nothing that was not announced, to the byte.
func TestLsRefsRequest(t *testing.T) {
	for name, c := range map[string]struct {
		q    Query
		caps capabilities
		want string
	}{
		"minimal": {refs("refs/heads/main"), capabilities{},
			"0014command=ls-refs\n" + "0001" + "0009peel\n" + "000csymrefs\n" + "001fref-prefix refs/heads/main\n" + "0000"},
		"all refs": {Everything(), capabilities{}, "0014command=ls-refs\n" + "0001" + "0009peel\n" + "000csymrefs\n" + "0000"},
		"all announced": {prefix("refs/tags/"), capabilities{format: "sha256", agent: true, unborn: true},
			"0014command=ls-refs\n" + "0013agent=git/test\n" + "0019object-format=sha256\n" + "0001" +
				"0009peel\n" + "000csymrefs\n" + "000bunborn\n" + "001aref-prefix refs/tags/\n" + "0000"},
	} {
		if got := lsRefsRequest(c.q, c.caps, "git/test"); string(got) != c.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
	// What cannot be asked for is picked from everything.
	for name, c := range map[string]struct {
		q    Query
		sent int
	}{
		"a name as long as a packet": {refs("refs/" + strings.Repeat("x", maxPkt-pktHeader-len("ref-prefix refs/\n"))), 1},
		"a name that is too long":    {refs("HEAD", "refs/"+strings.Repeat("x", maxPkt-pktHeader-len("ref-prefix refs/"))), 0},
		"many names":                 {Query{Refs: manyBranches(maxPrefixes)}, maxPrefixes},
		"too many names":             {Query{Refs: manyBranches(maxPrefixes + 1)}, 0},
	} {
		request := lsRefsRequest(c.q, capabilities{}, "")
		p, got := packets(request), 0
		for {
			kind, line, err := p.next()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if kind == pktFlush {
				break
			}
			if bytes.HasPrefix(line, []byte("ref-prefix ")) {
				got++
			}
		}
		if got != c.sent {
			t.Errorf("%s: %d prefixes sent", name, got)
		}
	}
}

func FuzzReadLsRefs(f *testing.F) {
	f.Add(pkts(idA+" HEAD symref-target:refs/heads/main", idB+" refs/tags/v1 peeled:"+idA, "unborn HEAD symref-target:x"), "")
	f.Add(pkts(idA+" refs/heads/a", idA+" refs/heads/a"), "sha1")
	f.Add(pkts(long+" refs/heads/a"), "sha256")
	f.Fuzz(func(t *testing.T, in []byte, format string) {
		all, _, err := parseV2(in, Everything(), capabilities{format: format})
		if err != nil {
			return
		}
		checkAdvertisement(t, all)
		// A narrower question gets the same refs, as far as it wants them.
		some, _, err := parseV2(in, prefix("refs/heads/"), capabilities{format: format})
		if err != nil {
			t.Fatal(err)
		}
		compareNarrow(t, all, some, "refs/heads/")
	})
}

func FuzzReadCapabilities(f *testing.F) {
	f.Add(pkts("agent=git/2.39.5", "ls-refs=unborn", "fetch=shallow wait-for-done filter", "server-option", "object-format=sha256", "object-info"))
	f.Add(pkts("ls-refs"))
	f.Add(pkts("ls-refs=unborn x\x00y", "object-format", "="))
	f.Fuzz(func(t *testing.T, in []byte) {
		caps, err := readCapabilities(packets(in))
		if err != nil {
			return
		}
		// Whatever was announced, the command stays one: lines, a delimiter,
		// lines, a flush.
		p, delims := packets(lsRefsRequest(prefix("refs/heads/"), caps, "git/gitpin")), 0
		for {
			kind, _, err := p.next()
			switch {
			case err != nil:
				t.Fatalf("%+v makes a request that is none: %v", caps, err)
			case kind == pktDelim:
				delims++
			case kind == pktFlush && delims == 1:
				return
			case kind == pktFlush:
				t.Fatalf("%+v makes a request with %d delimiters", caps, delims)
			}
		}
	})
}
