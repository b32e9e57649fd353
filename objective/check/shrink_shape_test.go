package check

import (
	"testing"

	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective/worker"
)

func TestShrink(t *testing.T) {
	k := &kernels.Kernel{}
	k.Fuzz = map[string][]int64{"B": nil, "S": nil}
	for _, test := range []struct {
		name  string
		fails func(kernels.Dims) bool
		want  string
	}{
		{"everything fails", func(kernels.Dims) bool { return true }, "B=1,D=64,S=1"},
		{"one past a tile", func(d kernels.Dims) bool { return d["S"] > 32 }, "B=1,D=64,S=33"},
		{"two dimensions", func(d kernels.Dims) bool { return d["S"]*d["B"] >= 20 }, "B=1,D=64,S=20"},
		{"only an odd size", func(d kernels.Dims) bool { return d["S"] == 131 }, "B=1,D=64,S=131"},
	} {
		t.Run(test.name, func(t *testing.T) {
			runs := 0
			start := Case{
				Dims:   kernels.Dims{"B": 3, "S": 131, "D": 64},
				Seed:   9,
				Family: arguments.Signs,
				Layout: worker.Misaligned,
			}
			got := shrink(k, start, k.Allows, func(c Case) bool {
				runs++
				return test.fails(c.Dims)
			})
			if got.Dims.String() != test.want || got.Family != "" || got.Seed != 9 {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if runs > ShrinkRuns {
				t.Errorf("%d runs", runs)
			}
		})
	}
	kept := Case{Dims: kernels.Dims{"B": 1, "S": 1}, Family: arguments.Signs}
	if got := shrink(k, kept, k.Allows, func(c Case) bool { return c.Family == arguments.Signs }); got.Family !=
		arguments.Signs {
		t.Error("a failure of one family was shrunk away")
	}
}
