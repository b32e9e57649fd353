package kernels

import (
	"strconv"
	"strings"
	"testing"
)

const withStructure = `name: bodies
entry: bodies
source: bodies.c
reference: bodies.c
params: {A: {values: [1, 2], default: 1}}
workloads: {small: {N: 10}}
args:
  - {name: y, type: f32, shape: [N], out: true}
  - name: x
    type: struct body
    shape: [N]
    fields:
      - {name: kind, type: u8, fill: uniform, range: [0, 2]}
      - {name: mass, type: f64}
      - {name: at, type: f32x3}
  - {name: setup, type: struct setup, fields: [{name: scale, type: f32, value: 2}, {name: count, type: i64, value: N}]}
`

// Fields lie where C puts them.
func TestLayoutOfStructures(t *testing.T) {
	for text, want := range map[string]string{
		withStructure: "x.kind 0 x.mass 8 x.at 16 32 8",
		strings.Replace(withStructure, "f32x3}", "f32x4, align: 16}",
			1): "x.kind 0 x.mass 8 x.at 16 32 16",
		strings.Replace(withStructure, "{name: mass, type: f64}", "{name: b, type: u16}", 1): "x.kind 0 x.b 2 x.at 4 16 4",
	} {
		k, err := parse("k.yaml", []byte(text), Host)
		if err != nil {
			t.Fatal(err)
		}
		x, got := k.Arguments[1], ""
		for _, f := range x.Fields {
			got += f.Name + " " + strconv.Itoa(f.Offset) + " "
		}
		if got += strconv.Itoa(x.Lanes) + " " + strconv.Itoa(x.Align); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Each mistake in a structure has its place and what to do.
func TestMistakesInStructures(t *testing.T) {
	for change, want := range map[string]string{
		"type: struct body => type: f32x4, x": "", // not YAML, but no crash
		"type: struct body => type: 3":        `k.yaml:9:11: argument x has fields: type is then what the source calls the structure`,
		"type: f64} => type: f64, out: true}": "k.yaml:14:16: field mass of x: a field has " +
			"name, type, align",
		"name: mass => name: kind":    "field kind of x is listed twice",
		"type: f64} => type: double}": `k.yaml:14:16: argument mass: unknown type "double"`,
		"range: [0, 2] => range: [0, 300]": "k.yaml:13:16: argument x.kind of bodies at " +
			"N=10: range: the value 300 does not fit u8",
		"    shape: [N]\n => ": "fill",
		"    shape: [N]\n =>     shape: [N]\n    inout: true\n": "k.yaml:15:16: field mass of x, which is " +
			"inout: say with fill",
		"    shape: [N]\n =>     shape: [N]\n    fill: zeros\n": "k.yaml:9:11: argument x is a structure: " +
			"fill, range",
		"    shape: [N]\n =>     shape: [N]\n    answer: y.npy\n": "from, answer, init and tensormap to numbers",
		"{name: scale, type: f32, value: 2} => {name: scale, type: f32}": "argument scale needs either a shape (a " +
			"buffer) or a value (a scalar)",
		"value: N}]} => value: N}], out: true}": "argument setup has no shape, so it is passed " +
			"by value",
		"    fields:\n      - {name: kind =>     fields: []\n    fill: {a": "",
		"type: f32x3} => type: f32x3, align: 3}":                           "align 3 is not a power of two from 4 to 4096",
	} {
		old, new, _ := strings.Cut(change, " => ")
		if !strings.Contains(withStructure, old) {
			t.Fatalf("no %q", old)
		}
		_, err := parse("k.yaml", []byte(strings.Replace(withStructure, old, new, 1)), Host)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", change, err, want)
		}
	}
	large := strings.Replace(withStructure, "{name: scale, type: f32, value: 2}", "{name: scale, type: f64, value: 2}", 1)
	for i := range 16 {
		large = strings.Replace(large, "{name: count", "{name: s"+strconv.Itoa(i)+", type: f64, value: 1}, {name: count", 1)
	}
	if _, err := parse("k.yaml", []byte(large), Host); err == nil ||
		!strings.Contains(err.Error(), "argument setup takes 144 bytes; at most 128 can be passed by value") {
		t.Error(err)
	}
}
