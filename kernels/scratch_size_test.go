package kernels

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pawl/kernels/arguments"
)

// Scratch has the size of the point that it is bound at; a point at which it has none is named.
func TestScratchFollowsThePoint(t *testing.T) {
	text := strings.Replace(roles, "between, type: f32, shape: [N]", "between, type: f32, shape: [PARTS]", 1) +
		"let: {PARTS: N / BLOCK}\n"
	for _, backend := range []string{Host, CUDA} {
		k, err := parse("kernel.yaml", []byte(text), backend)
		if err != nil {
			t.Fatal(err)
		}
		for blocks, want := range map[int64]int64{0: 3, 32: 3, 64: 1} { // 0 is the default
			at := k
			if blocks > 0 {
				at = k.At(mustPoint(t, fmt.Sprintf("BLOCK=%d", blocks)))
			}
			bindings, err := at.Bind(Dims{"N": 100})
			if err != nil || bindings[2].Count != want {
				t.Errorf("BLOCK=%d: %d elements, want %d: %v", blocks, bindings[2].Count, want, err)
			}
		}
		_, err = k.At(mustPoint(t, "BLOCK=64")).Bind(Dims{"N": 40})
		if unbound, ok := errors.AsType[*arguments.BindError](err); !ok || !unbound.Scratch ||
			err.Error() != "argument between of roles at N=40 and BLOCK=64: size 0 in shape is out of range" {
			t.Error(err)
		}
		if !slices.Equal(k.Extents(), []string{"N"}) {
			t.Errorf("%v: parameters are no sizes of a problem", k.Extents())
		}
	}
}

// Everything that points share says which parameter it cannot depend on, and whose it is.
func TestParametersWhereOnlySizesAreKnown(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"{name: x, type: f32, shape: [N]}", "{name: x, type: f32, shape: [N * BLOCK]}",
			"BLOCK is a parameter, and argument x, which is no scratch, may depend on sizes alone; there are N"},
		{"{name: x, type: f32, shape: [N]}", "{name: x, type: f32, shape: [PARTS]}",
			"PARTS is defined by parameters, and argument x, which is no scratch, may depend on sizes alone"},
		{"type: u32, value: N}", "type: u32, value: BLOCK}", "BLOCK is a parameter, and argument N"},
		{"scratch: true}", "scratch: true, init: BLOCK}",
			"BLOCK is a parameter, and argument between, but for its shape, may depend on sizes alone"},
		{"{name: x, type: f32, shape: [N]}", "{name: x, type: i32, shape: [N], fill: {indices: {into: between}}}",
			"the size of between depends on BLOCK, and inputs are the same for all points"},
		{"fuzz: {N: [1, 7]}", "domain: [N % BLOCK == 0]", "BLOCK is a parameter, and this may depend on sizes alone"},
	} {
		text := strings.Replace(roles, "between, type: f32, shape: [N]", "between, type: f32, shape: [PARTS]", 1)
		text = strings.Replace(text, c.from, c.to, 1) + "let: {PARTS: \"cdiv(N, BLOCK)\"}\n"
		if _, err := parse("kernel.yaml", []byte(text), Host); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.to, err, c.want)
		}
	}
}
