package kernels

import (
	"strings"
	"testing"

	"pawl/kernels/arguments"
)

// What a workload decides: the type of its elements, and with it the tolerance.
const bySizes = `
name: scale
entry: scale
source: {host: scale.c}
reference: {host: reference.c}
params: {WIDTH: {values: [1, 2], default: 1}}
workloads: {half: {N: 100, BRAIN: 0}, brain: {N: 100, BRAIN: 1}, bytes: {N: 100, BRAIN: 2}}
let: {element: 'BRAIN == 0 ? "f16" : BRAIN == 1 ? "bf16" : "e4m3"'}
args:
  - {name: x, type: element, shape: [N], fill: normal}
  - {name: y, type: element, shape: [N], out: true, align: 16}
  - {name: N, type: i32, value: N}
fuzz: {N: [1, 7]}
tolerance: {atol: "BRAIN == 0 ? 1e-3 : 1e-2", rtol: 0}
`

func TestTypesBySize(t *testing.T) {
	k, err := parse("kernel.yaml", []byte(bySizes), Host)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		kind           string
		align          int
		absolute, step float64
	}{{"f16", 2, 1e-3, 0x1p-10}, {"bf16", 2, 1e-2, 0x1p-7}, {"e4m3", 1, 1e-2, 0x1p-3}} {
		dims := k.Workloads[i].Dims
		chosen, err := k.For(dims)
		if err != nil {
			t.Fatal(err)
		}
		bindings, err := k.Bind(dims) // of the kernel as loaded, too
		if err != nil {
			t.Fatal(err)
		}
		x, y := bindings[0], bindings[1]
		if x.Type != want.kind || x.Align != want.align || y.Type != want.kind || y.Align != 16 {
			t.Errorf("%s: bound to %+v and %+v", k.Workloads[i].Name, x, y)
		}
		if a := chosen.Arguments[1].Element; a.Name != want.kind || a.Step() != want.step ||
			chosen.Tolerance.Absolute != want.absolute {
			t.Errorf("%s: %s, tolerance %+v", k.Workloads[i].Name, a.Name, chosen.Tolerance)
		}
		again, err := chosen.For(k.Workloads[0].Dims)
		if err != nil || again.Arguments[0].Element.Name != "f16" || again.Arguments[0].Align != 2 ||
			again.Tolerance.Absolute != 1e-3 {
			t.Errorf("%s and back: %+v, %v", k.Workloads[i].Name, again, err)
		}
	}
	if fixed := strings.Join(k.FixedSizes(), " "); fixed != "BRAIN" {
		t.Errorf("the kernel is another one by %s", fixed)
	}
}

// Without a tolerance it is the customary one of each workload's type.
func TestCustomaryToleranceBySize(t *testing.T) {
	text := strings.Replace(bySizes, `tolerance: {atol: "BRAIN == 0 ? 1e-3 : 1e-2", rtol: 0}`, "", 1)
	k, err := parse("kernel.yaml", []byte(text), Host)
	if err != nil {
		t.Fatal(err)
	}
	for i, kind := range []string{"f16", "bf16", "e4m3"} {
		chosen, err := k.For(k.Workloads[i].Dims)
		if err != nil || chosen.Tolerance != arguments.Typical[kind] {
			t.Errorf("%s: %+v, %v", kind, chosen.Tolerance, err)
		}
	}
}

func TestTypesBySizeThatCannotBe(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{`"bf16"`, `"bf17"`, `argument x of scale at BRAIN=1,N=100: unknown type "bf17"`},
		{`"bf16"`, `"i16"`, "only types of floats, or only those of integers"},
		{`{name: x, type: element`, `{name: x, type: BRAIN`, "expected a text, but this is a int"},
		{`{name: x, type: element`, `{name: x, type: elements`, `argument x: unknown type "elements"`},
		{`BRAIN == 1`, `N == 1`, "the type of argument x depends on N, which the fuzz matrix varies"},
		{`rtol: 0`, `rtol: N / 1000`, "the tolerance depends on N, which the fuzz matrix varies"},
		{`1e-2"`, `1.0"`, "scale at BRAIN=1,N=100: tolerance 1 is not between 0 and 1"},
	} {
		text := strings.Replace(bySizes, test.old, test.new, 1)
		if _, err := parse("kernel.yaml", []byte(text), Host); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.new, err, test.want)
		}
	}
}
