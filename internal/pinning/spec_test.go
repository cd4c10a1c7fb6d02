package pinning

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// specification is testdata/decide.md, which the documentation quotes: the
// words, and tables of rules over them.
type specification struct {
	words  []string            // in the order of the table
	values map[string][]string // by word
	tables map[string][]*rule  // by heading
}

// rule is one row of a table. It fits when for each word in when the case has
// one of the values; the first rule that fits counts.
type rule struct {
	name         string         // heading and number
	when         map[string]int // bit i stands for value i of the word
	then         string
	used, needed bool
}

func readSpecification(t *testing.T) specification {
	t.Helper()
	text, err := os.ReadFile("testdata/decide.md")
	if err != nil {
		t.Fatal(err)
	}
	s := specification{values: map[string][]string{}, tables: map[string][]*rule{}}
	heading := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if h, ok := strings.CutPrefix(line, "### "); ok {
			heading = h
			continue
		}
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == "word" || cells[0] == "#":
		case heading == "The words":
			s.words = append(s.words, cells[0])
			s.values[cells[0]] = split(cells[1], ",")
		default:
			r := &rule{name: heading + " " + cells[0], when: s.conditions(t, cells[1]), then: cells[2]}
			s.tables[heading] = append(s.tables[heading], r)
		}
	}
	return s
}

// conditions reads "word: value, value; word: value".
func (s specification) conditions(t *testing.T, text string) map[string]int {
	t.Helper()
	when := map[string]int{}
	for _, condition := range split(text, ";") {
		word, values, _ := strings.Cut(condition, ":")
		for _, value := range split(values, ",") {
			i := slices.Index(s.values[word], value)
			if i < 0 {
				t.Fatalf("%q is not one of %q, the values of %q", value, s.values[word], word)
			}
			when[word] |= 1 << i
		}
	}
	return when
}

func split(text, separator string) []string {
	var out []string
	for part := range strings.SplitSeq(text, separator) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// words is one case: for each word, the index of its value.
type words struct {
	s  *specification
	at map[string]int
}

func (w words) get(word string) string { return w.s.values[word][w.at[word]] }

func (w words) is(word string, values ...string) bool {
	return slices.Contains(values, w.get(word))
}

func (w words) set(word, value string) { w.at[word] = slices.Index(w.s.values[word], value) }

func (w words) String() string {
	var b strings.Builder
	for _, word := range w.s.words {
		b.WriteString(word + ": " + w.get(word) + "; ")
	}
	return b.String()
}

// lookup returns what the first rule of the table says of w. It marks it as
// used, and as needed if the rules below it say something else.
func (s specification) lookup(t *testing.T, table string, w words) *rule {
	t.Helper()
	var first *rule
	for _, r := range s.tables[table] {
		if !r.fits(w) {
			continue
		}
		if first != nil {
			first.needed = first.needed || r.then != first.then
			return first
		}
		first = r
		r.used = true
		if r.needed {
			return r
		}
	}
	if first == nil {
		t.Fatalf("no rule of %q fits %s", table, w)
	}
	first.needed = true // nothing below it
	return first
}

func (r *rule) fits(w words) bool {
	for word, values := range r.when {
		if values&(1<<w.at[word]) == 0 {
			return false
		}
	}
	return true
}

// checkUse fails for rules that decide nothing.
func (s specification) checkUse(t *testing.T) {
	t.Helper()
	for _, table := range s.tables {
		for _, r := range table {
			switch {
			case !r.used:
				t.Errorf("rule %s fits no case", r.name)
			case !r.needed:
				t.Errorf("rule %s says nothing that the rules below it do not say", r.name)
			}
		}
	}
}

// each calls f for the whole product of the words but the last, the candidate.
func (s *specification) each(f func(w words)) {
	w := words{s: s, at: map[string]int{}}
	for {
		f(w)
		i := 0
		for ; i < len(s.words)-1; i++ {
			word := s.words[i]
			if w.at[word]++; w.at[word] < len(s.values[word]) {
				break
			}
			w.at[word] = 0
		}
		if i == len(s.words)-1 {
			return
		}
	}
}
