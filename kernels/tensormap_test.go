package kernels

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pawl/kernels/document"
	"pawl/space"
)

const withMap = `name: copy
entry: copy
source: {cuda: copy.cu, host: copy.c}
reference: {cuda: copy.cu, host: copy.c}
params:
  TILE: {values: [64, 512], default: 64}
workloads:
  small: {B: 4, N: 100, D: 64}
launch: {grid: [B], block: [128]}
args:
  - {name: x, type: f16, shape: [B, N, D], align: 16, tensormap: {shape: [B * N, D], box: [TILE, D], swizzle: 128}}
  - {name: y, type: f16, shape: [B, N, D], out: true, align: 16, tensormap: {box: [1, 8, 16]}}
  - {name: N, type: i32, value: N}
fuzz: {N: [1, 7]}
`

func TestTensorLayouts(t *testing.T) {
	k, err := parse("kernel.yaml", []byte(withMap), CUDA)
	if err != nil {
		t.Fatal(err)
	}
	at := func(point string, dims Dims) space.Environment {
		env := dims.Environment()
		p, err := space.ParsePoint(point)
		if err != nil {
			t.Fatal(err)
		}
		env.Set(p)
		return env
	}
	layouts, err := k.Arguments.TensorLayouts(at("TILE=64", k.Workloads[0].Dims))
	if got, want := fmt.Sprint(layouts, err),
		"[{0 [400 64] [64 64] 128 0} {1 [4 100 64] [1 8 16] 0 0}] <nil>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, test := range []struct {
		point string
		dims  Dims
		want  string
	}{
		{"TILE=512", Dims{"B": 4, "N": 100, "D": 64},
			"argument x: the box [512 64] has a side of 512; the tensor copy engine takes 1 to 256"},
		{"TILE=64", Dims{"B": 4, "N": 100, "D": 72},
			"argument x: rows of the box are 144 bytes; a swizzle of 128 takes no more than that"},
		{"TILE=64", Dims{"B": 4, "N": 100, "D": 20},
			"argument x: rows of the box are 40 bytes; the tensor copy engine takes multiples of 16"},
	} {
		if _, err := k.Arguments.TensorLayouts(at(test.point, test.dims)); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s at %s: %v, want %s", test.point, test.dims, err, test.want)
		}
	}
	for change, want := range map[string]string{
		"box: [TILE, 8]": "argument x: rows of the buffer are 200 bytes apart; the tensor copy engine takes " +
			"multiples of 16",
		"shape: [2 * B * N, D]": "argument x: a shape of [800 100] from element 0 on reaches beyond the buffer of " +
			"[4 100 100]",
	} {
		old, _, _ := strings.Cut(change, ":")
		text := strings.Replace(withMap, map[string]string{"box": "box: [TILE, D]", "shape": "shape: [B * N, D]"}[old],
			change, 1)
		k, err := parse("kernel.yaml", []byte(text), CUDA)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Arguments.TensorLayouts(at("TILE=64", Dims{"B": 4, "N": 100, "D": 100})); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", change, err, want)
		}
	}
}

// A tensor may begin inside of its buffer, and its swizzle depend on the point.
func TestTensorMapFormulas(t *testing.T) {
	text := strings.Replace(withMap, "shape: [B * N, D], box: [TILE, D], swizzle: 128",
		"base: N * D, shape: [(B - 1) * N, D], box: [8, \"TILE == 64 ? 32 : 16\"], swizzle: \"TILE == 64 ? 64 : 48\"", 1)
	k, err := parse("kernel.yaml", []byte(text), CUDA)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		point string
		dims  Dims
		want  string
	}{
		{"TILE=64", Dims{"B": 4, "N": 100, "D": 64}, "[{0 [300 64] [8 32] 64 12800} {1 [4 100 64] [1 8 16] 0 0}] <nil>"},
		{"TILE=512", Dims{"B": 4, "N": 100, "D": 64}, "a swizzle of 48 is not 0, 32, 64 or 128 bytes"},
		{"TILE=64", Dims{"B": 4, "N": 1, "D": 4},
			"a base of 4 elements is 8 bytes; the tensor copy engine takes multiples of 16"},
	} {
		env := test.dims.Environment()
		point, err := space.ParsePoint(test.point)
		if err != nil {
			t.Fatal(err)
		}
		env.Set(point)
		if layouts, err := k.Arguments.TensorLayouts(env); !strings.Contains(fmt.Sprint(layouts, err), test.want) {
			t.Errorf("%s at %s: %v, %v", test.point, test.dims, layouts, err)
		}
	}
	k, err = parse("kernel.yaml", []byte(strings.Replace(text, "(B - 1) * N, D", "B * N, D", 1)), CUDA)
	if err != nil {
		t.Fatal(err)
	}
	env := k.Workloads[0].Dims.Environment()
	env.Set(k.Default())
	if _, err := k.Arguments.TensorLayouts(env); err == nil ||
		!strings.Contains(err.Error(), "a shape of [400 64] from element 6400 on reaches beyond the buffer of [4 100 64]") {
		t.Error(err)
	}
}

// Where the condition does not hold, the kernel takes the pointer.
func TestTensorMapWhen(t *testing.T) {
	text := strings.Replace(withMap, "{shape: [B * N, D], box", "{when: TILE < 512, shape: [B * N, D], box", 1)
	k, err := parse("kernel.yaml", []byte(text), CUDA)
	if err != nil {
		t.Fatal(err)
	}
	for point, want := range map[string]string{
		"TILE=64":  "[{0 [400 64] [64 64] 128 0} {1 [4 100 64] [1 8 16] 0 0}] <nil>",
		"TILE=512": "[{1 [4 100 64] [1 8 16] 0 0}] <nil>",
	} {
		env := k.Workloads[0].Dims.Environment()
		p, err := space.ParsePoint(point)
		if err != nil {
			t.Fatal(err)
		}
		env.Set(p)
		if got := fmt.Sprint(k.Arguments.TensorLayouts(env)); got != want {
			t.Errorf("%s: %s, want %s", point, got, want)
		}
	}
}

// A definition over nothing is known before any size is.
func TestTensorMapSwizzleIsDefined(t *testing.T) {
	for width, want := range map[string]string{"128": "", "48": "swizzle WIDTH is not 0, 32, 64 or 128 bytes"} {
		text := strings.Replace(withMap, "swizzle: 128", "swizzle: WIDTH", 1) + "let: {WIDTH: \"" + width + "\"}\n"
		if _, err := parse("kernel.yaml", []byte(text), CUDA); (err == nil) != (want == "") ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", width, err)
		}
	}
}

func TestTensorMapMistakesSayWhere(t *testing.T) {
	for _, test := range []struct {
		name, backend, old, new string
		line, column            int
		message                 string
	}{
		{"on the host", Host, "", "", 11, 12, "a tensormap is for backend cuda"},
		{"sides", CUDA, "box: [1, 8, 16]", "box: [8, 16]", 12, 12, "the box of the tensormap has 2 sides for a shape of 3"},
		{"no box", CUDA, "tensormap: {box: [1, 8, 16]}", "tensormap: {swizzle: 32}", 12, 12, "0 sides for a shape of 3"},
		{"dimensions", CUDA, "shape: [B * N, D], box: [TILE, D]", "shape: [1, 1, 1, B, N, D], box: [1, 1, 1, 1, 1, D]", 11,
			12, "at most 5 dimensions, not 6"},
		{"swizzle", CUDA, "swizzle: 128", "swizzle: 48", 11, 111, "swizzle 48 is not 0, 32, 64 or 128 bytes"},
		{"when", CUDA, "{box: [1, 8, 16]}", "{when: N, box: [1, 8, 16]}", 12, 0, "a condition (bool)"},
		{"undeclared", CUDA, "[TILE, D]", "[TILES, D]", 11, 0, "TILES is not declared"},
		{"scalar", CUDA, "value: N}", "value: N, tensormap: {box: [1]}}", 13, 12, "tensormap belong to buffers"},
		{"unknown key", CUDA, "swizzle: 128", "swizle: 128", 11, 102, "swizle"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parse("kernel.yaml", []byte(strings.Replace(withMap, test.old, test.new, 1)), test.backend)
			var located *document.Error
			if !errors.As(err, &located) {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(located.Message, test.message) {
				t.Errorf("message %q, want %q", located.Message, test.message)
			}
			if located.Line != test.line || (test.column > 0 && located.Column != test.column) {
				t.Errorf("at %d:%d, want %d:%d", located.Line, located.Column, test.line, test.column)
			}
		})
	}
}
