package check

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pawl/internal/kerneltest"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective/worker"
	"pawl/space"
)

// embedded returns a kernel, its default workload and a point whose integers
// are 32, 48, 2 and so on.
func embedded(t *testing.T, name string) (*kernels.Kernel, kernels.Workload, space.Point) {
	t.Helper()
	k, err := kernels.Load(name, kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Space(k.Workloads[0])
	if err != nil {
		t.Fatal(err)
	}
	return k, k.Workloads[0], s.Default()
}

func TestMatrix(t *testing.T) {
	k := &kernels.Kernel{}
	k.Fuzz = map[string][]int64{"S": {1, 33, 128}, "B": {1, 2}}
	w := kernels.Workload{Dims: kernels.Dims{"S": 512, "B": 4, "D": 64}}
	matrix := Matrix(k, w)
	if len(matrix) != 6 {
		t.Fatalf("%d shapes, want 6", len(matrix))
	}
	for _, shape := range matrix {
		if shape["D"] != 64 {
			t.Errorf("%s: a dimension without sizes keeps the workload's", shape)
		}
	}
}

func texts(cases []Case) []string {
	var all []string
	for _, c := range cases {
		all = append(all, c.String())
	}
	return all
}

func TestQuickTier(t *testing.T) {
	for _, name := range kerneltest.NamesFor(kernels.Host) {
		k, w, point := embedded(t, name)
		shapes := byCost(k, w)
		cases := Quick(k, w, point, 6, 1)
		if len(cases) != 6 {
			t.Fatalf("%d cases", len(cases))
		}
		// The cheaper half of those without a side of 1 is not among the dearest
		// eighth of all.
		for seed := range uint64(20) {
			for _, c := range Quick(k, w, point, 6, seed) {
				if cost(k, c.Dims) > cost(k, shapes[len(shapes)*7/8]) {
					t.Errorf("%s: %s is an expensive shape for the quick tier", name, c.Dims)
				}
			}
		}
		if cases[0].family() != arguments.Declared || cases[2].Family != arguments.Overflow {
			t.Errorf("%s: families %s and %s", name, cases[0].Family, cases[2].Family)
		}
		if families := map[string]bool{
			cases[3].Family: true,
			cases[4].Family: true,
			cases[5].Family: true,
		}; len(families) != 3 {
			t.Errorf("%s: the others are of families %v", name, families)
		}
		for dim := range k.Fuzz {
			if size := cases[0].Dims[dim]; !slices.Contains(primes, size) || size == 2 {
				t.Errorf("%s: the first case has %s=%d, no odd prime", name, dim, size)
			}
			if size := cases[1].Dims[dim]; size < 2 || size%4 == 0 {
				t.Errorf("%s: the second case has no tail in %s=%d", name, dim, size)
			}
		}
		if !slices.Equal(texts(cases), texts(Quick(k, w, point, 6, 1))) {
			t.Error("not repeatable")
		}
		other, err := space.ParsePoint("BLOCK_M=48")
		if err != nil {
			t.Fatal(err)
		}
		if cases[0].Seed == Quick(k, w, point, 6, 2)[0].Seed || cases[0].Seed == Quick(k, w, other, 6, 1)[0].Seed {
			t.Error("another seed or another point, the same inputs")
		}
	}
}

func TestFullTier(t *testing.T) {
	for _, name := range kerneltest.NamesFor(kernels.Host) {
		k, w, point := embedded(t, name)
		cases := Full(k, w, point, 1)
		all := texts(cases)
		for i, shape := range Matrix(k, w) {
			if want := (Case{Dims: shape, Seed: 1 + uint64(i)}).String(); all[i] != want {
				t.Errorf("%s: case %d is %s, want %s", name, i, all[i], want)
			}
		}
		families, used := map[string]int{}, map[worker.Layout]bool{}
		ones := map[string]bool{}
		for _, c := range cases {
			families[c.family()]++
			used[c.layout()] = true
			for dim := range k.Fuzz {
				ones[dim] = ones[dim] || c.Dims[dim] == 1
			}
		}
		for _, family := range k.Arguments.Families() {
			if families[family] != 3 {
				t.Errorf("%s: %d cases of family %s", name, families[family], family)
			}
		}
		if len(used) != len(layouts) || len(ones) != len(k.Fuzz) {
			t.Errorf("%s: layouts %v, sizes of 1 in %v", name, used, ones)
		}
		if last := cases[len(cases)-1]; last.Dims.String() != w.Dims.String() || last.Layout != worker.Aligned {
			t.Errorf("%s: the last case is %s, want the workload", name, last)
		}
	}
}

func TestGeneratedShapes(t *testing.T) {
	k, w, point := embedded(t, "matmul")
	rng := rand.New(rand.NewPCG(1, 1))
	seen := map[string]bool{}
	for range 500 {
		dims := Generated(k, w, point, rng)
		if cost(k, dims) > generatedCost(k, w) {
			t.Errorf("%s costs more than three quarters of the matrix", dims)
		}
		for _, name := range []string{"M", "N", "K"} {
			seen[fmt.Sprintf("%s=%d", name, dims[name])] = true
		}
	}
	// 1, a prime, one beside the default tile of 64, in every dimension.
	for _, want := range []int64{1, 31, 63, 65} {
		for _, name := range []string{"M", "N", "K"} {
			if text := fmt.Sprintf("%s=%d", name, want); !seen[text] {
				t.Errorf("%s was never generated", text)
			}
		}
	}
	// Only what the fuzz section names varies.
	delete(k.Fuzz, "K")
	for range 20 {
		if dims := Generated(k, w, point, rng); dims["K"] != w.Dims["K"] {
			t.Errorf("K is not in the fuzz section and became %d", dims["K"])
		}
	}
}

func BenchmarkQuick(b *testing.B) {
	k, err := kernels.Load("attention", kernels.Host)
	if err != nil {
		b.Fatal(err)
	}
	s, err := k.Space(k.Workloads[0])
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Quick(k, k.Workloads[0], s.Default(), 5, 1)
	}
}
