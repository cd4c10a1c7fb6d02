package lsremote

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// benchRefs is how many refs the parsers are measured with.
const benchRefs = 100_000

// manyV0 and manyV2 are the same refs in both protocols, sorted as servers
// sort them: branches, then tags of which each fifth is annotated.
func manyV0() []byte {
	var b bytes.Buffer
	b.Write(gittest.Pkt(idA + " HEAD" + someCaps + "\n"))
	for i := range benchRefs / 2 {
		b.Write(gittest.Pkt(fmt.Sprintf("%040x refs/heads/work/%06d\n", i+1, i)))
	}
	for i := range benchRefs / 2 {
		b.Write(gittest.Pkt(fmt.Sprintf("%040x refs/tags/v1.%06d\n", i+1, i)))
		if i%5 == 0 {
			b.Write(gittest.Pkt(fmt.Sprintf("%040x refs/tags/v1.%06d^{}\n", i+2, i)))
		}
	}
	b.WriteString("0000")
	return b.Bytes()
}

func manyV2() []byte {
	var b bytes.Buffer
	b.Write(gittest.Pkt(idA + " HEAD symref-target:refs/heads/main\n"))
	for i := range benchRefs / 2 {
		b.Write(gittest.Pkt(fmt.Sprintf("%040x refs/heads/work/%06d\n", i+1, i)))
	}
	for i := range benchRefs / 2 {
		peeled := ""
		if i%5 == 0 {
			peeled = fmt.Sprintf(" peeled:%040x", i+2)
		}
		b.Write(gittest.Pkt(fmt.Sprintf("%040x refs/tags/v1.%06d%s\n", i+1, i, peeled)))
	}
	b.WriteString("0000")
	return b.Bytes()
}

// BenchmarkParse measures the parsers alone: none of many refs kept, and all.
func BenchmarkParse(b *testing.B) {
	queries := map[string]Query{"none": refs("refs/tags/v1.zzzzzz"), "all": Everything()}
	for name, q := range queries {
		v0, v2 := manyV0(), manyV2()
		b.Run("v0/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(v0)))
			b.ReportAllocs()
			for b.Loop() {
				p := newPktReader(bytes.NewReader(v0), 1<<30)
				line, ok, err := p.line()
				if err == nil {
					_, _, err = readVersion0(p, newCollector(q, 1<<30), line, ok)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("v2/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(v2)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := readLsRefs(newPktReader(bytes.NewReader(v2), 1<<30), newCollector(q, 1<<30), capabilities{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
