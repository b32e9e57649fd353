package host_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"pawl/internal/kerneltest"
	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/host"
	"pawl/space"
)

// Embedded kernels are right at an end of their space, in full every one also at its default, at the other end and at
// a few points between, on the whole matrix of its manifest.
func TestEmbeddedKernelsAreRight(t *testing.T) {
	if testing.Short() {
		t.Skip("about verdicts: the others run through the same goroutines")
	}
	for _, name := range thorough.Some(kerneltest.NamesFor(kernels.Host), 1) {
		t.Run(name, func(t *testing.T) {
			k, err := kernels.Load(name, kernels.Host)
			if err != nil {
				t.Fatal(err)
			}
			s, err := k.Space(k.Workloads[0])
			if err != nil {
				t.Fatal(err)
			}
			e := embeddedEvaluator(t, k, s)
			for _, point := range somePoints(t, k, s) {
				prepared, err := e.Prepare(t.Context(), point)
				if err != nil {
					t.Fatal(err)
				}
				failure, err := e.Verify(t.Context(), prepared)
				if err != nil || failure != nil {
					t.Errorf("%s: %v, %v", point, failure, err)
				}
			}
		})
	}
}

func embeddedEvaluator(t *testing.T, k *kernels.Kernel, s *space.Space) *objective.Evaluator {
	t.Helper()
	toolchain, err := host.FindToolchain(t.Context(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	backend, err := host.New(t.Context(), k, s, host.Options{Cache: openCache(t, compiled), Toolchain: toolchain})
	if err != nil {
		t.Fatal(err)
	}
	e := objective.NewEvaluator(k, k.Workloads[0], backend, objective.Options{})
	t.Cleanup(e.Close)
	return e
}

// somePoints returns the last feasible point, and in full also the default, the first and a few from between, the same
// every time. The default is also what internal/mutants changes, and what must pass there.
func somePoints(t *testing.T, k *kernels.Kernel, s *space.Space) []space.Point {
	t.Helper()
	all, err := s.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	limits := host.NewLimits(k, s, 2)
	pool, err := all.Filter(func(p space.Point) bool { return limits.Preflight(p) == nil })
	if err != nil {
		t.Fatal(err)
	}
	points := []space.Point{pool.Point(pool.Len() - 1)}
	if !thorough.All() {
		return points
	}
	points = append(points, s.Default(), pool.Point(0))
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3 {
		points = append(points, pool.Point(rng.IntN(pool.Len())))
	}
	return points
}
