package kernels

import (
	"strings"
	"testing"

	"pawl/kernels/arguments"
)

// roles is a manifest with every kind of argument; %s of the tests are replaced in it.
const roles = `name: roles
entry: roles
source: {host: roles.c, cuda: roles.cu}
reference: {host: reference.c, cuda: reference.cu}
params: {BLOCK: {values: [32, 64], default: 32}}
workloads: {small: {N: 100}, large: {N: 5000}}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: filter, type: f32, shape: [9], fill: uniform, symbol: d_filter}
  - {name: between, type: f32, shape: [N], scratch: true}
  - {name: counts, type: u16, shape: [8], out: true, init: N}
  - {name: v, type: c64, shape: [N], inout: true, fill: normal, tolerance: {atol: 1e-3, rtol: 0}}
  - {name: p, type: u8x24, shape: [N]}
  - {name: N, type: u32, value: N}
launch:
  - {entry: first, args: [x, between, p, N], grid: [N], block: [BLOCK]}
  - {entry: second, args: [v, between, counts, N], grid: ["cdiv(N, BLOCK)"], block: [BLOCK], threads: 2}
  - {reference: {grid: [1], block: [1]}}
fuzz: {N: [1, 7]}
`

func TestRolesOfArguments(t *testing.T) {
	for _, backend := range []string{Host, CUDA} {
		k, err := parse("kernel.yaml", []byte(roles), backend)
		if err != nil {
			t.Fatal(err)
		}
		bindings, err := k.Bind(k.Workloads[0].Dims)
		if err != nil {
			t.Fatal(err)
		}
		filter, between, counts, v, p := bindings[1], bindings[2], bindings[3], bindings[4], bindings[5]
		if filter.Symbol != "d_filter" || filter.Count != 9 || between.Out || !between.Scratch || between.Restored {
			t.Errorf("%+v, %+v", filter, between)
		}
		if !counts.Out || !counts.Restored || counts.Integer != 100 || counts.Fill != arguments.Initial {
			t.Errorf("%+v", counts)
		}
		// 100 pairs of f32, aligned as a pair; 24 bytes are no vector.
		if !v.Out || !v.Restored || v.Type != "f32" || v.Count != 200 || v.Row != 200 || v.Align != 8 ||
			v.Tolerance.Absolute != 1e-3 {
			t.Errorf("%+v", v)
		}
		if p.Type != "u8" || p.Count != 2400 || p.Align != 1 {
			t.Errorf("%+v", p)
		}
		calls, err := k.Launch.Calls(environmentOf(k))
		if err != nil || len(calls) != 2 || calls[1].Entry != "second" ||
			backend == CUDA && calls[1].Grid != [3]int64{4, 1, 1} {
			t.Errorf("%+v, %v", calls, err)
		}
		// The reference takes all but scratch, symbols included.
		if got := k.Launch.Reference.Arguments; len(got) != 6 || got[1] != 1 || got[2] != 3 ||
			k.Launch.Reference.Entry != "roles" {
			t.Errorf("%v", k.Launch.Reference)
		}
		if families := k.Arguments.Families(); len(families) == 0 {
			t.Error("an inout has no families")
		}
		for _, family := range k.Arguments.Families() {
			bound, err := k.BindFamily(k.Workloads[0].Dims, family)
			if err != nil || bound[3].Fill != arguments.Initial || bound[2].Fill != "" {
				t.Errorf("%s: %+v, %v", family, bound[3], err)
			}
		}
	}
}

func environmentOf(k *Kernel) map[string]any {
	env := k.Workloads[0].Dims.Environment()
	env.Set(k.Default())
	return env
}

// Every mistake is a sentence at its place.
func TestBadRolesOfArguments(t *testing.T) {
	for _, test := range []struct{ old, replacement, want string }{
		{", fill: normal, tol", ", tol",
			"kernel.yaml:12:12: argument v is inout: say with fill what it holds before every launch"},
		{"inout: true, fill: normal", "inout: true, out: true, fill: normal", "argument v is marked out and inout"},
		{"inout: true, fill: normal", "inout: true, init: 0", "init belongs to outputs; the content of an inout is its fill"},
		{"shape: [N]}\n  - {name: filter", "shape: [N], init: 0}\n  - {name: filter", "init belongs to outputs and scratch"},
		{"scratch: true", "scratch: true, out: true", "marked scratch and out"},
		{"scratch: true", "scratch: true, fill: ones", "inout: true says that the kernel reads it"},
		{"init: N", "init: N * 1000",
			"kernel.yaml:11:12: argument counts of roles at N=100: init: the value 100000 does not fit u16, which holds 0 " +
				"to 65535"},
		{"init: N", "init: M", "M"},
		{"init: N", "init: 0.5", "init"},
		{"tolerance: {atol: 1e-3, rtol: 0}", "tolerance: {atol: 1e-3}", "tolerance needs both atol and rtol"},
		{"{name: x, type: f32, shape: [N]}", "{name: x, type: f32, shape: [N], tolerance: {atol: 0, rtol: 0}}",
			"tolerance belongs to outputs"},
		{"{name: x, type: f32, shape: [N]}", "{name: x, type: u8, shape: [N], out: true, tolerance: {atol: .9, rtol: 0}}",
			"integers have to equal the reference's, so let it round as the kernel does"},
		{"{name: x, type: f32, shape: [N]}", "{name: x, type: f32, shape: [N], texture: {}}", "textures are not supported"},
		{"{name: x, type: f32,", "{name: x, type: texture,",
			"a texture cannot be described: let the kernel take the buffer as a pointer"},
		{"type: u8x24", "type: u8x1", "a structure has 2 to 1024 numbers"},
		{"type: u8x24", "type: u9", `unknown type "u9"`},
		{"type: u8x24", "type: u9", "the complex c64 and c128, and structures of equal numbers such as f32x4"},
		{"{name: N, type: u32, value: N}", "{name: N, type: c64, value: N}", "a scalar is one number"},
		{"symbol: d_filter", "symbol: a.b", "is not an identifier"},
		{"scratch: true", "scratch: true, symbol: s", "a symbol is for inputs"},
		{"entry: first, ", "", "kernel.yaml:16:5: a launch in a list needs an entry"},
		{"entry: first", "entry: a-b", `entry "a-b" is not a function name`},
		{"[x, between, p, N]", "[x, betwen, p, N]",
			`kernel.yaml:16:30: launch: no argument "betwen"; there are x, filter, between`},
		{"[x, between, p, N]", "[x, between, p, N, filter]", "argument filter is the variable d_filter of the source"},
		{"[x, between, p, N]", "[x, between, N]", "kernel.yaml:13:12: argument p is given to no launch"},
		{"v, between, counts, N", "v, counts, N", ""},
		{"x, between, p, N], grid: [N], block: [BLOCK]}\n  - {entry: second, args: [v, between,",
			"x, p, N], grid: [N], block: [BLOCK]}\n  - {entry: second, args: [v,",
			"argument between is given to no launch; nobody would write it"},
		{"  - {reference: {grid: [1], block: [1]}}\n", "",
			"a list of launches needs an element {reference: {grid: ..., block: ...}}"},
		{"{reference: {grid: [1], block: [1]}}", "{reference: {grid: [1]}}",
			"the launch of the reference needs a grid and a block"},
		{"{reference: {grid: [1], block: [1]}}", "{entry: third, reference: {grid: [1], block: [1]}}",
			"the reference is an element of its own"},
		{"grid: [N], block: [BLOCK]}", "grid: [N]}", "kernel.yaml:16:5: launch needs a grid and a block"},
		{"shape: [8]", "shape: [N * 100000000000]", "out of range"},
	} {
		if strings.Count(roles, test.old) != 1 {
			t.Fatalf("%q is not once in the manifest", test.old)
		}
		_, err := parse("kernel.yaml", []byte(strings.Replace(roles, test.old, test.replacement, 1)), CUDA)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.replacement, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.replacement, err, test.want)
		}
	}
	for text, want := range map[string]string{
		"launch: []":                               "the list of launches is empty",
		"launch: {entry: other}":                   "entry and args belong to a list of launches",
		"launch: [{entry: first, gird: [1]}]":      "gird",
		"launch: " + strings.Repeat("[", 30) + "1": "",
	} {
		if _, err := parse("kernel.yaml",
			[]byte(strings.Replace(good, "launch: {grid: [TILES], block: [BLOCK], shared: BYTES, threads: 1}", text, 1)),
			Host); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
