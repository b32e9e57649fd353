package inputs_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
)

// How an input gets new content: numbers that do not depend on their place are drawn, unless a
// kernel may take them for places; rows are filled again; the rest stays.
func TestRenewalOfInputs(t *testing.T) {
	seed := uint64(1)
	for _, test := range []struct {
		binding arguments.Binding
		want    inputs.Renewal
	}{
		{arguments.Binding{Type: "f32", Count: 9, Values: arguments.Values{Fill: arguments.Normal}}, inputs.Drawn},
		{arguments.Binding{Type: "e4m3", Count: 9, Values: arguments.Values{Fill: arguments.Uniform}}, inputs.Drawn},
		{arguments.Binding{Type: "i8", Count: 9, Values: arguments.Values{Fill: arguments.Uniform}}, inputs.Drawn},
		{arguments.Binding{Type: "i32", Count: 9, Values: arguments.Values{Fill: arguments.Uniform}}, inputs.Refilled},
		{arguments.Binding{Type: "f32", Count: 9,
			Values: arguments.Values{Fill: arguments.Uniform, Bounds: &arguments.Bounds{High: 2}}},
			inputs.Refilled},
		{arguments.Binding{Type: "f32", Count: 9, Row: 3, Values: arguments.Values{Fill: arguments.OneHot}}, inputs.Refilled},
		{arguments.Binding{Type: "i32", Count: 9, Row: 3, Values: arguments.Values{Fill: arguments.Sorted}}, inputs.Refilled},
		{arguments.Binding{Type: "f32", Count: 9, Values: arguments.Values{Fill: "ones"}}, inputs.Kept},
		{arguments.Binding{Type: "i32", Count: 9, Values: arguments.Values{Fill: "zeros"}}, inputs.Kept},
		{arguments.Binding{Type: "f32", Count: 9,
			Values: arguments.Values{Fill: arguments.Normal}, Symbol: "table"}, inputs.Kept},
		{arguments.Binding{Type: "f32", Count: 9,
			Values: arguments.Values{Fill: arguments.Normal, Seed: &seed}}, inputs.Kept},
		{arguments.Binding{Type: "i32", Count: 9, Values: arguments.Values{Fill: arguments.Permutation,
			Content: &arguments.Content{Kind: arguments.Permutation}}}, inputs.Kept},
		{arguments.Binding{Type: "f32"}, inputs.Kept},
	} {
		if got, _ := inputs.RenewalOf(test.binding); got != test.want {
			t.Errorf("%+v: %d, want %d", test.binding, got, test.want)
		}
	}
}

// Drawn content has the fill's distribution, and no two contents share a piece at any place. A seed
// draws the same again.
func TestDrawnContent(t *testing.T) {
	b := arguments.Binding{Name: "x", Type: "f32", Count: 1 << 16, Values: arguments.Values{Fill: arguments.Normal}}
	_, of := inputs.RenewalOf(b)
	pool := make([]byte, of.Bytes())
	if err := new(inputs.Source).Fill(pool, of.Binding, 3); err != nil {
		t.Fatal(err)
	}
	draw := func(seed uint64) []byte {
		content := make([]byte, 4*b.Count)
		of.Draw(content, pool, of.Stream(seed))
		return content
	}
	first := draw(1)
	if !bytes.Equal(first, draw(1)) {
		t.Error("a seed draws another content the second time")
	}
	seen, sum, squares := map[[32]byte]bool{}, 0.0, 0.0
	for seed := range uint64(8) {
		content := draw(seed)
		for at := 0; at < len(content); at += 32 {
			piece := [32]byte(content[at:])
			if seen[piece] {
				t.Fatalf("the piece at %d of seed %d was there before", at, seed)
			}
			seen[piece] = true
		}
		for at := 0; at < len(content); at += 4 {
			x := float64(math.Float32frombits(binary.LittleEndian.Uint32(content[at:])))
			sum, squares = sum+x, squares+x*x
		}
	}
	// 65,536 numbers of the pool: the mean's standard error is 0.004, the variance's 0.0055.
	n := float64(8 * b.Count)
	if mean, variance := sum/n, squares/n; math.Abs(mean) > 0.02 || math.Abs(variance-1) > 0.03 {
		t.Errorf("mean %g, variance %g", mean, variance)
	}
}

// Nothing that a kernel could remember comes again in a sample: not two numbers next to each other, nor what is left of
// four within a tolerance of 1 in 10,000; of small types, not what lies in 16 bytes. A structure is as its numbers are.
func TestNoPartOfDrawnContentComesAgain(t *testing.T) {
	field := func(kind string, offset int) arguments.Field {
		return arguments.Field{Binding: arguments.Binding{Name: "f", Type: kind, Count: 1 << 12, Row: 1,
			Values: arguments.Values{Fill: arguments.Normal}}, Offset: offset, Lanes: 1}
	}
	normal := arguments.Values{Fill: arguments.Normal}
	for name, test := range map[string]struct {
		binding arguments.Binding
		part    int    // of the content, in bytes
		mask    uint64 // what a kernel distinguishes of 8 bytes
	}{
		"f32":         {arguments.Binding{Name: "x", Type: "f32", Count: 1 << 14, Values: normal}, 8, math.MaxUint64},
		"rounded f32": {arguments.Binding{Name: "x", Type: "f32", Count: 1 << 14, Values: normal}, 16, 0xffffff00ffffff00},
		"f64":         {arguments.Binding{Name: "x", Type: "f64", Count: 1 << 13, Values: normal}, 8, 0xffffffffff000000},
		"f16":         {arguments.Binding{Name: "x", Type: "f16", Count: 1 << 14, Values: normal}, 16, math.MaxUint64},
		"structures": {arguments.Binding{Name: "x", Type: "u8", Stride: 16, Count: 1 << 16, Fields: []arguments.Field{
			field("f32", 0), field("f32", 4), field("f32", 8), field("f32", 12)}}, 16, 0xffffff00ffffff00},
	} {
		renewal, of := inputs.RenewalOf(test.binding)
		if renewal != inputs.Drawn {
			t.Fatalf("%s is not drawn", name)
		}
		pool := make([]byte, of.Bytes())
		if err := new(inputs.Source).Fill(pool, of.Binding, 3); err != nil {
			t.Fatal(err)
		}
		seen := map[[16]byte]bool{}
		for seed := range uint64(8) {
			content := make([]byte, 1<<16)
			of.Draw(content, pool, of.Stream(seed))
			for at := 0; at < len(content); at += test.part {
				var part [16]byte
				for i := 0; i < test.part; i += 8 {
					binary.LittleEndian.PutUint64(part[i:], binary.LittleEndian.Uint64(content[at+i:])&test.mask)
				}
				if seen[part] {
					t.Fatalf("%s: the part at %d of seed %d was there before", name, at, seed)
				}
				seen[part] = true
			}
		}
	}
}
