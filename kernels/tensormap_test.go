package kernels

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pawl/space"
)

const mapped = `name: tiles
entry: tiles
source: {cuda: tiles.cu, host: tiles.c}
reference: {cuda: tiles.cu, host: tiles.c}
params:
  BLOCK: {values: [32, 64, 512], default: 32}
workloads:
  small: {B: 2, H: 3, S: 100, D: 64}
args:
  - {name: x, type: f16, shape: [B, H, S, D], align: 16}
  - {name: y, type: f16, shape: [B, H, S, D], out: true, align: 16}
  - {name: S, type: i32, value: S}
  - {name: x_map, type: tensormap, of: x, box: [1, BLOCK, D], swizzle: 128}
  - {name: y_map, type: tensormap, of: y, box: [BLOCK, 8]}
tolerance: {atol: 0, rtol: 0}
launch: {grid: [1], block: [32]}
architecture: sm_90a
`

func TestTensorMaps(t *testing.T) {
	k, err := parse("kernel.yaml", []byte(mapped), CUDA)
	if err != nil {
		t.Fatal(err)
	}
	if !k.ArchSpecific || k.Architecture != "sm_90a" {
		t.Errorf("architecture %q, specific %t", k.Architecture, k.ArchSpecific)
	}
	bindings, err := k.Bind(k.Workloads[0].Dims)
	if err != nil {
		t.Fatal(err)
	}
	x, y := bindings[3], bindings[4]
	if x.IsBuffer() || x.Type != "tensormap" || x.Map.Of != 0 || x.Map.Swizzle != 128 || !slices.Equal(x.Map.Sizes, []int64{6, 100, 64}) {
		t.Errorf("x_map: %+v, %+v", x, x.Map)
	}
	if y.Map.Of != 1 || y.Map.Swizzle != 0 || !slices.Equal(y.Map.Sizes, []int64{600, 64}) {
		t.Errorf("y_map: %+v", y.Map)
	}
	for value, want := range map[string]string{
		"BLOCK=64":  "[[1 64 64] [64 8]]",
		"BLOCK=512": "argument x_map: a tile of 512 along dimension 1; the copy engine takes 1 to 256",
	} {
		point, err := space.ParsePoint(value)
		if err != nil {
			t.Fatal(err)
		}
		env := k.Workloads[0].Dims.Environment()
		env.Set(point)
		boxes, err := k.Boxes(env)
		if got := fmt.Sprint(boxes); got != want && (err == nil || err.Error() != want) {
			t.Errorf("%s: %s, %v, want %s", value, got, err, want)
		}
	}
}

func TestTensorMapMistakesSayWhere(t *testing.T) {
	for _, test := range []struct {
		name, old, new string
		line, column   int
		message        string
	}{
		{"no such buffer", "of: x,", "of: z,", 13, 40, "no such buffer before it"},
		{"no buffer", "of: x,", "of: S,", 13, 40, "no such buffer before it"},
		{"of nothing", "of: x, ", "", 13, 12, "no such buffer before it"},
		{"no box", ", box: [BLOCK, 8]", "", 14, 12, "box has 0 dimensions"},
		{"too many dimensions", "box: [BLOCK, 8]", "box: [1, 1, 1, BLOCK, 8]", 14, 12, "box has 5 dimensions; y has 4"},
		{"undeclared name", "box: [BLOCK, 8]", "box: [Q, 8]", 14, 49, "Q is not declared"},
		{"swizzle", "swizzle: 128", "swizzle: 48", 13, 72, "swizzle 48; there are 0, 32, 64, 128"},
		{"rows too long", "box: [1, BLOCK, D]", "box: [1, BLOCK, 2 * D]", 1, 1, "rows of 256 bytes in a tile; with swizzle 128 the copy engine takes multiples of 16 up to 128"},
		{"rows too short", "box: [BLOCK, 8]", "box: [BLOCK, 4]", 1, 1, "rows of 8 bytes"},
		{"too much", "of: x,", "of: x, fill: normal,", 13, 12, "of, box and swizzle, nothing else"},
		{"not last", "  - {name: y_map", "  - {name: B, type: i32, value: B}\n  - {name: y_map", 14, 12, "comes after a tensor map"},
		{"keys of a map", "out: true, align: 16", "out: true, of: x", 11, 12, "belong to the type tensormap"},
		{"architecture", "sm_90a", "hopper", 17, 15, "a name such as sm_90a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			content := strings.Replace(mapped, test.old, test.new, 1)
			if content == mapped {
				t.Fatal("the test changes nothing")
			}
			_, err := parse("kernel.yaml", []byte(content), CUDA)
			var located *ManifestError
			if !errors.As(err, &located) {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(located.Message, test.message) {
				t.Errorf("message %q, want %q", located.Message, test.message)
			}
			if located.Line != test.line || located.Column != test.column {
				t.Errorf("at %d:%d, want %d:%d\n%v", located.Line, located.Column, test.line, test.column, err)
			}
		})
	}
	if _, err := parse("kernel.yaml", []byte(mapped), Host); err == nil || !strings.Contains(err.Error(), "for backend cuda") {
		t.Errorf("on the host: %v", err)
	}
}
