package kernels

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"pawl/kernels/arguments"
)

func parsed(t *testing.T, replacements ...string) *Kernel {
	t.Helper()
	k, err := parse("kernel.yaml", []byte(strings.NewReplacer(replacements...).Replace(good)), Host)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestFamilies(t *testing.T) {
	// its own fill is uniform
	modest := []string{arguments.Signs, arguments.OneHot, arguments.NearTies, arguments.Denormals, arguments.Normal}
	for _, test := range []struct {
		name, old, new string
		want           []string
	}{
		{"no magnitude beyond 1 without leave", "", "", modest},
		{"large and overflow on request", "fill: uniform", "fill: uniform, large: 8",
			append([]string{arguments.Overflow, arguments.Signs, arguments.OneHot, arguments.NearTies, arguments.Denormals,
				arguments.Large}, arguments.Normal)},
		{"a list", "fill: uniform", "fill: uniform, families: [signs, uniform]", []string{arguments.Signs}},
		{"none at all", "fill: uniform", "fill: uniform, families: []", nil},
		{"constants are meant", "fill: uniform", "fill: ones", nil},
		{"integers have their own", "type: f32, shape: [N], fill: uniform", "type: i32, shape: [N]",
			[]string{arguments.Extremes, arguments.Powers, arguments.Small, arguments.Repeated, arguments.Sorted,
				arguments.Reversed}},
		{"also in a range", "type: f32, shape: [N], fill: uniform",
			"type: u8, shape: [N], range: [3, 5], families: [sorted, small]", []string{arguments.Small, arguments.Sorted}},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := parsed(t, test.old, test.new)
			if test.old == "" {
				k = parsed(t)
			}
			if got := k.Arguments.Families(); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	k := parsed(t)
	bindings, err := k.BindFamily(Dims{"N": 7}, arguments.Signs)
	if err != nil || bindings[0].Fill != arguments.Signs || bindings[0].Row != 7 || bindings[1].Fill != "" {
		t.Errorf("%+v, %v", bindings, err)
	}
	if _, err := k.BindFamily(Dims{"N": 7}, "odd"); err == nil {
		t.Error("a family that does not exist")
	}
}

func TestDomain(t *testing.T) {
	k := parsed(t, "fuzz: {N: [1, 7, 100]}", `fuzz: {N: [1, 7, 100]}
domain: ["N % 4 == 0", "100 / (N - 8) != 50"]`)
	for n, want := range map[int64]bool{4: true, 5: false, 8: false, 100: true, 12: true} {
		if got := k.Allows(Dims{"N": n}); got != want {
			t.Errorf("N=%d: %t", n, got)
		}
	}
	_, err := parse("kernel.yaml", []byte(good+"domain: [N < 1000]\n"), Host)
	if err == nil || !strings.Contains(err.Error(), "does not hold for workload large") {
		t.Errorf("got %v", err)
	}
}

// A point that the constraints rule out at a shape need not work there.
func TestConstraintsBoundShapes(t *testing.T) {
	k := parsed(t) // BLOCK <= N, BLOCK is 32 by default
	s, err := k.Space(k.Workloads[0])
	if err != nil {
		t.Fatal(err)
	}
	env, err := s.Environment(s.Default())
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int64]bool{31: false, 32: true, 33: true} {
		if got := k.AllowsAt(env, Dims{"N": n}); got != want {
			t.Errorf("N=%d: %t", n, got)
		}
	}
}

func TestTolerance(t *testing.T) {
	stated := "tolerance: {atol: 1e-6, rtol: 0}\n"
	for _, test := range []struct {
		name, old, new string
		want           arguments.Tolerance
	}{
		{"stated", stated, stated, arguments.Tolerance{Absolute: 1e-6}},
		{"of the type", stated, "", arguments.Typical["f32"]},
		{"of the least precise output", "type: f32, shape: [N], out: true, align: 64}\n",
			"type: f16, shape: [N], out: true}\n  - {name: z, type: f64, shape: [N], out: true}\n", arguments.Typical["f16"]},
		{"integers are exact", "type: f32, shape: [N], out: true", "type: i32, shape: [N], out: true", arguments.Tolerance{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			replacements := []string{test.old, test.new}
			if test.old != stated {
				replacements = append(replacements, stated, "")
			}
			if got := parsed(t, replacements...).Tolerance; got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestFamilyMistakes(t *testing.T) {
	for text, message := range map[string]string{
		"fill: uniform, families: [odd]": `no family "odd"`,
		"fill: uniform, large: 0.5":      "a factor from 1",
		"out: true, large: 2":            "belong to inputs",
	} {
		_, err := parse("kernel.yaml", []byte(strings.Replace(good, "fill: uniform", text, 1)), Host)
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// A workload that a kernel cannot do is a mistake in its manifest: attention's
// addresses need rows of a power of two on CUDA.
func TestAttentionRefusesOtherHeads(t *testing.T) {
	content, err := fs.ReadFile(Files("attention"), ManifestName)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []string{"D: 192", "D: 32", "D: 512", "D: 96"} {
		text := strings.Replace(string(content), "wide_2048: {B: 8, H: 16, S: 2048, D: 128",
			"wide_2048: {B: 8, H: 16, S: 2048, "+size, 1)
		if text == string(content) {
			t.Fatal("the workload is gone")
		}
		if _, err := parse("kernel.yaml", []byte(text), CUDA); err == nil ||
			!strings.Contains(err.Error(), "does not hold for workload wide_2048") {
			t.Errorf("%s: got %v", size, err)
		}
	}
}

func TestKinds(t *testing.T) {
	floats := []string{arguments.Scaled, arguments.Growing, arguments.Channels, arguments.Sparse, arguments.Ties}
	for _, test := range []struct {
		name, old, new string
		want           []string
	}{
		{"floats", "fill: uniform", "fill: normal", floats},
		{"floats in a range can be sorted too", "fill: uniform", "fill: uniform, range: [0, 1]",
			append(slices.Clone(floats), arguments.Sorted, arguments.Repeated)},
		{"families say nothing about kinds", "fill: uniform", "fill: uniform, families: [signs]", floats},
		{"constants are meant", "fill: uniform", "fill: ones", nil},
		{"integers", "type: f32, shape: [N], fill: uniform", "type: i32, shape: [N]",
			[]string{arguments.Sorted, arguments.Repeated}},
		{"lengths", "type: f32, shape: [N], fill: uniform", "type: i32, shape: [N], range: [1, N]",
			[]string{arguments.Skewed, arguments.Sorted, arguments.Repeated}},
		{"those that can occur", "tolerance:", "kinds: [declared, sparse, sorted]\ntolerance:", []string{arguments.Sparse}},
		{"none but the declared", "tolerance:", "kinds: [declared]\ntolerance:", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := parsed(t, test.old, test.new)
			if got := k.Kinds(); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	b := parsed(t, "shape: [N], fill: uniform", "shape: [2, 3, N, 5], fill: normal, large: 20")
	bindings, err := b.BindFamily(Dims{"N": 7}, arguments.Scaled)
	want := arguments.Pattern{Kind: arguments.Scaled, Row: 5, Between: 1, Sequence: 7, Slices: 6, Top: 8}
	if err != nil || bindings[0].Pattern == nil || *bindings[0].Pattern != want || bindings[0].Fill != arguments.Normal {
		t.Errorf("%+v, %v", bindings[0].Pattern, err)
	}
	for _, wrong := range []string{"kinds: [scald]", "kinds: scaled"} {
		manifest := strings.Replace(good, "tolerance:", wrong+"\ntolerance:", 1)
		if _, err := parse("kernel.yaml", []byte(manifest), Host); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
}
