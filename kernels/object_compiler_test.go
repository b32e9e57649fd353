package kernels

import (
	"strings"
	"testing"
)

const byCommand = `name: scale
entry: scale
source: {object: scale.rs}
reference: {host: reference.c}
compile: [rustc, -O, --crate-type=staticlib, -o, "{OUT}", scale.rs]
params:
  BLOCK: {values: [1, 2], default: 1}
workloads:
  small: {N: 100}
defines: {SIZE: N}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
`

// A manifest says how its source becomes an object, with parameters and constants in braces; mistakes have a place.
func TestSourcesThatCommandsCompile(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"", "", ""},
		{"-O,", `"opt-level={BLOCK}", "{SIZE}",`, ""},
		{"-O,", `"{N}",`, "5:18: compile: {N} is not defined (defined: BLOCK, SIZE, OUT)"},
		{`"{OUT}"`, "out.o", "5:11: compile is a program and its arguments, one of which has {OUT}"},
		{"compile:", "flags: [-O2]\ncompile:", "5:9: flags are for the C compiler"},
		{"{object: scale.rs}", "{object: [scale.rs, other.c]}", "compile makes one object"},
		{`compile: [rustc, -O, --crate-type=staticlib, -o, "{OUT}", scale.rs]`, "",
			"compile is missing: the command that makes an object file of scale.rs"},
		{"shape: [N], out: true}", "shape: [N], out: true}\n  - {name: z, type: f32, shape: [N], symbol: z}",
			"argument z is a variable of the source"},
	} {
		_, err := parse("kernel.yaml", []byte(strings.Replace(byCommand, test.old, test.new, 1)), Host)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v\nwant %s", test.new, err, test.want)
		}
	}
	_, rest, _ := strings.Cut(byCommand, "params:")
	for _, block := range blocks(t, "compile:") {
		manifest := "name: page\nentry: page\nreference: {host: reference.c}\n" + block +
			strings.Replace("params:"+rest, "BLOCK", "LEVEL", 1)
		if k, err := parse("kernel.yaml", []byte(manifest), Host); err != nil || k.Compile[0] != "rustc" {
			t.Errorf("the page's example: %v", err)
		}
	}
	if _, err := parse("kernel.yaml", []byte(byCommand), CUDA); !isNoSource(err) {
		t.Errorf("for CUDA: %v", err)
	}
}
