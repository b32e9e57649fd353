package objective

import (
	"math/rand/v2"
	"slices"

	"pawl/kernels"
)

// Case is one check of a kernel's results: the sizes of a problem and the seed
// of its inputs.
type Case struct {
	Dims kernels.Dims
	Seed uint64
}

// Matrix returns the shapes of the manifest's fuzz matrix; a dimension that
// the matrix leaves out keeps its size in the workload. The order is fixed.
func Matrix(k *kernels.Kernel, w kernels.Workload) []kernels.Dims {
	shapes := []kernels.Dims{{}}
	names := make([]string, 0, len(w.Dims))
	for name := range w.Dims {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		sizes := k.Fuzz[name]
		if len(sizes) == 0 {
			sizes = []int64{w.Dims[name]}
		}
		var next []kernels.Dims
		for _, shape := range shapes {
			for _, size := range sizes {
				extended := kernels.Dims{name: size}
				for other, value := range shape {
					extended[other] = value
				}
				next = append(next, extended)
			}
		}
		shapes = next
	}
	return shapes
}

// volume is a measure of a shape's cost that needs no formula.
func volume(dims kernels.Dims) float64 {
	product := 1.0
	for _, size := range dims {
		product *= float64(size)
	}
	return product
}

// quickCases draws a few shapes from the cheaper half of the matrix, with
// fresh seeds: enough to reject nearly everything wrong at little cost.
func quickCases(matrix []kernels.Dims, n int, seed uint64) []Case {
	cheap := slices.Clone(matrix)
	slices.SortStableFunc(cheap, func(a, b kernels.Dims) int {
		switch va, vb := volume(a), volume(b); {
		case va < vb:
			return -1
		case va > vb:
			return 1
		}
		return 0
	})
	cheap = cheap[:(len(cheap)+1)/2]
	rng := rand.New(rand.NewPCG(seed, 0x66757a7a))
	var cases []Case
	for _, i := range rng.Perm(len(cheap)) {
		if len(cases) == n {
			break
		}
		cases = append(cases, Case{cheap[i], rng.Uint64()})
	}
	return cases
}
