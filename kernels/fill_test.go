package kernels

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/kernels/arguments"
	"pawl/kernels/document"
)

// filledWith is the good manifest with other arguments in place of x. They stand on line 20.
func filledWith(arguments ...string) string {
	const float = "  - {name: x, type: f32, shape: [N], fill: uniform}\n"
	var lines strings.Builder
	for _, a := range arguments {
		lines.WriteString("  - {" + a + "}\n")
	}
	return strings.Replace(good, float, lines.String(), 1)
}

func TestFills(t *testing.T) {
	content := func(arguments ...string) arguments.Binding {
		t.Helper()
		k, err := parse("kernel.yaml", []byte(filledWith(arguments...)), Host)
		if err != nil {
			t.Fatal(err)
		}
		bindings, err := k.Bind(Dims{"N": 100})
		if err != nil {
			t.Fatal(err)
		}
		return bindings[0]
	}
	if b := content("name: x, type: f32, shape: [N], fill: 0.5"); b.Fill != arguments.ConstantFill || b.Value != 0.5 {
		t.Errorf("%+v", b)
	}
	if b := content(`name: x, type: i32, shape: [N], fill: {constant: "N + 1"}`); b.Fill != arguments.ConstantFill ||
		b.Integer != 101 {
		t.Errorf("%+v", b)
	}
	if b := content("name: x, type: f32, shape: [N], range: [0.5, N]"); *b.Bounds !=
		(arguments.Bounds{Low: 0.5, High: 100}) || b.Fill != arguments.Normal {
		t.Errorf("%+v", b)
	}
	if b := content("name: x, type: i32, shape: [N], fill: {indices: {below: N / 2}}"); *b.Range !=
		(arguments.Range{Low: 0, High: 49}) || b.Fill != arguments.Uniform {
		t.Errorf("%+v", b)
	}
	if b := content("name: x, type: i32, shape: [N], fill: {indices: {into: y}}"); *b.Range !=
		(arguments.Range{Low: 0, High: 99}) {
		t.Errorf("%+v", b)
	}
	b := content(`name: x, type: f32, shape: [N / 10, 10], fill: {formula: "i0 + i1 * BYTES"}`)
	if c := b.Content; c.Formula != "i0 + i1 * BYTES" || c.Integers["BYTES"] != 400 ||
		!slices.Equal(c.Shape, []int64{10, 10}) {
		t.Errorf("%+v", b.Content)
	}
	b = content("name: x, type: i32, shape: [N], fill: {columns: {rows: rows, below: 7}}",
		"name: rows, type: i32, shape: [21], fill: {row-pointers: {into: x, columns: 7, density: 0.5, skew: 2}}")
	if rows := b.Content.Rows; rows == nil || rows.Content.Total != 70 || rows.Content.Longest != 7 ||
		rows.Content.Skew != 2 {
		t.Errorf("%+v", b.Content)
	}
	// What nobody has given is not in the record of what was timed.
	k, err := parse("kernel.yaml", []byte(good), Host)
	if err != nil {
		t.Fatal(err)
	}
	bindings, err := k.Bind(Dims{"N": 100})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(bindings[0]); err != nil ||
		string(text) != `{"name":"x","type":"f32","count":100,"row":100,"align":4,"fill":"uniform"}` {
		t.Errorf("%s, %v", text, err)
	}
}

// Each mistake is a sentence with its place: the line of the argument, and the column of
// what is wrong with it.
func TestBadFills(t *testing.T) {
	rows := "name: rows, type: i32, shape: [21], fill: {row-pointers: {into: x, columns: 7}}"
	for _, test := range []struct {
		message   string
		arguments []string
	}{
		{`unknown fill "odd"; there are normal, uniform, ones, zeros, sorted, reversed, one-hot, permutation, a number, and with options constant, formula, indices, row-pointers, columns`, []string{"name: x, type: f32, shape: [N], fill: odd"}},
		{"the value 300 does not fit u8, which holds 0 to 255", []string{"name: x, type: u8, shape: [N], fill: 300"}},
		{"the value 1e+10 is too large for f16", []string{"name: x, type: f16, shape: [N], fill: 1e10"}},
		{"expected an integer, but this is a float64", []string{"name: x, type: i32, shape: [N], fill: 0.5"}},
		{"the formula at element 999: the value 999 does not fit u8",
			[]string{"name: x, type: u8, shape: [1000], fill: {formula: i}"}},
		{"division by zero at element 0", []string{`name: x, type: f32, shape: [N], fill: {formula: "1 / i"}`}},
		{"square root of -1", []string{`name: x, type: f32, shape: [N], fill: {formula: "sqrt(i - 1)"}`}},
		{"j is not declared", []string{`name: x, type: f32, shape: [N], fill: {formula: "i + j"}`}},
		{"BLOCK is a parameter", []string{`name: x, type: f32, shape: [N], fill: {formula: "i % BLOCK"}`}},
		{"expected a number, but this is a bool", []string{`name: x, type: f32, shape: [N], fill: {formula: "i < 3"}`}},
		{"indices below 101 would leave y, which has 100 elements",
			[]string{"name: x, type: i32, shape: [N], fill: {indices: {below: N + 1, into: y}}"}},
		{"no index lies below 0", []string{"name: x, type: i32, shape: [N], fill: {indices: {below: N - 100}}"}},
		{"the value 299 does not fit u8", []string{"name: x, type: u8, shape: [N], fill: {indices: {below: 300}}"}},
		{"no buffer \"z\" among the arguments; there are [x y]",
			[]string{"name: x, type: i32, shape: [N], fill: {indices: {into: z}}"}},
		{"the fill indices is for integers, not for f32",
			[]string{"name: x, type: f32, shape: [N], fill: {indices: {below: N}}"}},
		{"the fill indices needs more: {indices: {below: N}}", []string{"name: x, type: i32, shape: [N], fill: indices"}},
		{`the fill indices has no option "above"; it has below, into`,
			[]string{"name: x, type: i32, shape: [N], fill: {indices: {above: 3}}"}},
		{`no fill "index" takes options; there are`, []string{"name: x, type: i32, shape: [N], fill: {index: {below: 3}}"}},
		{"a fill is one word", []string{"name: x, type: i32, shape: [N], fill: {constant: 1, formula: i}"}},
		{"the value 299 does not fit u8", []string{"name: x, type: u8, shape: [300], fill: permutation"}},
		{"row pointers have one dimension",
			[]string{"name: x, type: i32, shape: [N]", "name: r, type: i32, shape: [3, 4], fill: {row-pointers: {into: x}}"}},
		{"so at least two",
			[]string{"name: x, type: i32, shape: [N]", "name: r, type: i32, shape: [1], fill: {row-pointers: {into: x}}"}},
		{"x has 100 elements, more than 20 rows of 3 columns have",
			[]string{"name: x, type: i32, shape: [N]",
				"name: r, type: i32, shape: [21], fill: {row-pointers: {into: x, columns: 3}}"}},
		{"is 180 entries, and they would leave x, which has 100 elements",
			[]string{"name: x, type: i32, shape: [N]",
				"name: r, type: i32, shape: [21], fill: {row-pointers: {into: x, columns: 10, density: 0.9}}"}},
		{"a density of 1.5: it is a share",
			[]string{"name: x, type: i32, shape: [N]",
				"name: r, type: i32, shape: [21], fill: {row-pointers: {into: x, columns: 10, density: 1.5}}"}},
		{"give columns as well",
			[]string{"name: x, type: i32, shape: [N]",
				"name: r, type: i32, shape: [21], fill: {row-pointers: {into: x, density: 0.5}}"}},
		{"a skew of -1",
			[]string{"name: x, type: i32, shape: [N]",
				"name: r, type: i32, shape: [21], fill: {row-pointers: {into: x, skew: -1}}"}},
		{"y is not filled with row-pointers",
			[]string{"name: x, type: i32, shape: [N], fill: {columns: {rows: y, below: 7}}"}},
		{"rows points into x, not into z",
			[]string{"name: z, type: i32, shape: [N], fill: {columns: {rows: rows, below: 7}}",
				"name: x, type: i32, shape: [N]", rows}},
		{"distinct columns below 5: rows may be longer; give rows columns: 5",
			[]string{"name: x, type: i32, shape: [N], fill: {columns: {rows: rows, below: 5, distinct: true}}", rows}},
		{"distinct is true or false",
			[]string{"name: x, type: i32, shape: [N], fill: {columns: {rows: rows, below: 5, distinct: 1}}", rows}},
		{`i32 has no family "extremes" here; it has sorted, reversed`,
			[]string{"name: x, type: i32, shape: [N], fill: permutation, families: [extremes]"}},
		{"what is filled with constant takes no families",
			[]string{"name: x, type: f32, shape: [N], fill: 1, families: [uniform]"}},
		{"is a scalar: out, inout, init, scratch, tolerance, fill, from, answer",
			[]string{"name: x, type: f32, value: 1, from: x.npy"}},
		{"has both a fill and from", []string{"name: x, type: f32, shape: [N], fill: ones, from: x.npy"}},
		{"answer belongs to outputs", []string{"name: x, type: f32, shape: [N], answer: x.npy"}},
		{"fuzz: N cannot vary", []string{"name: x, type: f32, shape: [N], from: x.npy"}},
	} {
		_, err := parse("kernel.yaml", []byte(filledWith(test.arguments...)), Host)
		var found *document.Error
		if !errors.As(err, &found) || !strings.Contains(found.Message, test.message) {
			t.Errorf("%s: got %v, want %q", test.arguments, err, test.message)
			continue
		}
		if place := found.Line >= 20 && found.Line < 20+len(test.arguments); !place &&
			!strings.Contains(test.message, "fuzz") {
			t.Errorf("%s: line %d of %v", test.arguments, found.Line, err)
		}
	}
	_, err := parse("kernel.yaml",
		[]byte(strings.Replace(strings.ReplaceAll(good, "N: ", "i: "), "shape: [N], fill: uniform",
			`shape: [i], fill: {formula: "i + 1"}`, 1)), Host)
	if err == nil {
		t.Error("a size that is called i")
	}
}

func TestFamiliesOfStructures(t *testing.T) {
	for argument, want := range map[string]string{
		"name: x, type: i32, shape: [N], fill: permutation": "sorted reversed",
		"name: x, type: i32, shape: [N], fill: sorted":      "extremes repeated",
		"name: x, type: f32, shape: [N], fill: one-hot":     "extremes repeated",
		"name: x, type: f32, shape: [N], fill: uniform, range: [0, 1]": "extremes normal repeated " +
			"sorted reversed",
		"name: x, type: i32, shape: [N], fill: {indices: {below: N}}": "extremes powers small " +
			"repeated sorted reversed",
		"name: x, type: f32, shape: [N], fill: 2":                         "",
		`name: x, type: f32, shape: [N], fill: {formula: "i"}`:            "",
		"name: x, type: i32, shape: [N], fill: {row-pointers: {into: y}}": "empty-rows one-row even-rows",
	} {
		k, err := parse("kernel.yaml", []byte(filledWith(argument)), Host)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := strings.Join(k.Arguments.Families(), " "); got != want {
			t.Errorf("%s: %s, want %s", argument, got, want)
		}
		for _, family := range k.Arguments.Families() {
			if bindings, err := k.BindFamily(Dims{"N": 7}, family); err != nil || bindings[0].Fill != family {
				t.Errorf("%s in %s: %+v, %v", argument, family, bindings, err)
			}
		}
	}
}

// answeredManifest has a file for its input and one for its output.
const answeredManifest = `name: scale
entry: scale
source: scale.c
workloads: {one: {N: 3}}
params: {BLOCK: {values: [1, 2], default: 1}}
args:
  - {name: x, type: f32, shape: [N], from: x.bin}
  - {name: y, type: f32, shape: [N], out: true, answer: y.bin}
  - {name: n, type: i32, value: N}
`

func TestFilesOfArguments(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("scale.c", "void scale(void) {}")
	write("x.bin", "abcdefghijkl")
	write("y.bin", "abcdefghijkl")
	write("kernel.yaml", answeredManifest)
	k, err := Load(dir, Host)
	if err != nil {
		t.Fatal(err)
	}
	if !k.Answered() || len(k.Varying()) != 0 || len(k.Arguments.Families()) != 0 {
		t.Errorf("answered %v, varying %v, families %v", k.Answered(), k.Varying(), k.Arguments.Families())
	}
	bindings, err := k.Bind(k.Workloads[0].Dims)
	if err != nil || bindings[0].Content.File.Name != "x.bin" || bindings[1].Answer.Name != "y.bin" {
		t.Errorf("%+v, %v", bindings, err)
	}
	// What a kernel reads and writes has both.
	write("kernel.yaml", strings.Replace(answeredManifest, "out: true", "inout: true, from: x.bin", 1))
	both, err := Load(dir, Host)
	if err != nil {
		t.Fatal(err)
	}
	if bindings, err := both.Bind(both.Workloads[0].Dims); err != nil || bindings[1].Content.File.Name != "x.bin" ||
		bindings[1].Answer.Name != "y.bin" {
		t.Errorf("%+v, %v", bindings, err)
	}
	write("kernel.yaml", answeredManifest)

	files, err := k.Files()
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if err != nil || !slices.Equal(names, []string{"kernel.yaml", "scale.c", "x.bin", "y.bin"}) {
		t.Errorf("%s, %v", names, err)
	}
	depends, _, err := k.Depends()
	if err != nil || !slices.ContainsFunc(depends, func(f File) bool { return f.Name == "y.bin" }) {
		t.Errorf("%v, %v", depends, err)
	}
	before, err := k.Digest()
	if err != nil {
		t.Fatal(err)
	}
	write("x.bin", "abcdefghijkm")
	if after, err := k.Digest(); err != nil || after == before {
		t.Errorf("another input, the same digest: %s, %v", after, err)
	}

	for _, test := range []struct{ old, new, message string }{
		{"from: x.bin", "from: z.bin", "kernel.yaml:7:44: argument x: file z.bin: not there"},
		{"from: x.bin", "from: ../x.bin", "leaves the kernel's folder"},
		{"from: x.bin", "from: scale.c", "file scale.c has 19 bytes; (3) of f32 needs 12"},
		{"from: x.bin", "from: []", "expected a value, or a list of at least one"},
		{"from: x.bin", "from: [x.bin, y.bin]", "both x.bin and y.bin fit"},
		{"from: x.bin", "from: [scale.c, kernel.yaml]", "none of scale.c, kernel.yaml fits"},
		{"{N: 3}", "{N: 4}", "x.bin has 12 bytes; (4) of f32 needs 16"},
		{", answer: y.bin", "", "without one, or an answer for every output"},
		{"  - {name: n", "  - {name: z, type: f32, shape: [N], out: true}\n  - {name: n", "output z has no answer"},
		{"from: x.bin", "fill: normal", "argument x is filled with normal, other numbers for every seed"},
		{"from: x.bin", `fill: {formula: "random"}`, "a formula without random"},
		{"source: scale.c", "source: scale.c\nreference: scale.c", "strike one of them"},
		{"workloads: {one: {N: 3}}", "workloads: {one: {N: 3, A: 1}, two: {N: 3, A: 2}}",
			"would be the answer for the workloads one and two"},
		{"default: 1}}", "default: 1, reference: true}}",
			"the result depends on parameter BLOCK, and answers in files are right for one of its values"},
		{"source: scale.c", "source: scale.c\nfuzz: {M: [1]}\n", "fuzz: M is not a dimension"},
		{"workloads: {one: {N: 3}}", "workloads: {one: {N: 3, M: 3}}\nfuzz: {M: [1]}", "there are no answers for them"},
	} {
		write("kernel.yaml", strings.Replace(answeredManifest, test.old, test.new, 1))
		if _, err := Load(dir, Host); err == nil || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%s: got %v, want %q", test.new, err, test.message)
		}
	}
}
