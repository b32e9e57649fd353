package search

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"pawl/objective"
	"pawl/space"
)

func toldTrial(t *testing.T, text string, milliseconds float64) Trial {
	t.Helper()
	point, err := space.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	trial := Trial{Point: point, Told: true, Outcome: objective.Outcome{Samples: []float64{milliseconds}}}
	if milliseconds == 0 {
		trial.Outcome = objective.Outcome{Failure: &objective.Failure{Stage: objective.Fuzz, Reason: objective.WrongResult}}
	}
	return trial
}

func TestRememberTranslates(t *testing.T) {
	pool := poolOf(t, ordered("A", 16, 32, 64), ordered("NEW", 3, 4))
	trials := []Trial{
		toldTrial(t, "A=16,GONE=1", 5),
		toldTrial(t, "A=60,GONE=1", 4), // 64 is nearest
		toldTrial(t, "A=64,GONE=2", 3), // the same point, and faster
		toldTrial(t, "A=32,GONE=1", 0), // failed
	}
	if other := Remember(pool.Space(), "this GPU", "another", trials); len(other) > 0 {
		t.Errorf("another device is remembered: %v", other)
	}
	memory := Remember(pool.Space(), "this GPU", "this GPU", trials)
	if len(memory) != 2 {
		t.Fatalf("%d points, want 2: %v", len(memory), memory)
	}
	if m := memory[0]; m.Row[0] != 0 || m.Row[1] != 0 || m.Milliseconds != 5 {
		t.Errorf("first %v", m)
	}
	if m := memory[1]; m.Row[0] != 2 || m.Milliseconds != 3 {
		t.Errorf("second %v", m)
	}
}

// memoryOf is an earlier study of random points of a pool.
func memoryOf(pool *space.Pool, count int, time func(index int) float64) Memory {
	rng := rand.New(rand.NewPCG(5, 5))
	var memory Memory
	for _, index := range rng.Perm(pool.Len())[:count] {
		memory = append(memory, Remembered{Row: pool.Row(index), Milliseconds: time(index)})
	}
	return memory
}

func TestWeightsOfATrendByHand(t *testing.T) {
	y := []float64{-1, 0, 1, 0}
	// Without correlations the factor is the identity.
	identity := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: 4, Stride: 4, Data: []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}}
	// What expects exactly what is seen has squares of 2 and the doubt 1: 2/3.
	// What expects the opposite, or the same everywhere, has no say.
	for name, c := range map[string]struct {
		expected []float64
		want     float64
	}{
		"the same":     {[]float64{9, 10, 11, 10}, 2.0 / 3},
		"half as much": {[]float64{-0.5, 0, 0.5, 0}, 1 / 1.5},
		"the opposite": {[]float64{1, 0, -1, 0}, 0},
		"constant":     {[]float64{3, 3, 3, 3}, 0},
	} {
		near(t, name, weigh([][]float64{c.expected}, y, identity)[0], c.want, 1e-9)
	}
}

func TestMemoryHelpsWhereItIsRightAndDoesNotHarmWhereItIsWrong(t *testing.T) {
	pool := kernelPool(t)
	time := func(index int) float64 { return kernelTime(pool, index) }
	// The trials until the optimum of 1 ms is found, over some seeds.
	trials := func(earlier ...Memory) int {
		sum := 0
		for seed := range uint64(8) {
			sampler, view := newGP(pool.Space()), NewView(pool)
			view.Earlier = earlier
			for {
				index := next(t, sampler, view, seed)
				view.Ask(index)
				view.Tell(Observation{Index: index, Milliseconds: time(index)})
				sum++
				if time(index) == 1 {
					break
				}
			}
		}
		return sum
	}
	cold := trials()
	// Another device: everything slower, and one parameter weighs more.
	right := trials(memoryOf(pool, 60, func(index int) float64 {
		return 3 * kernelTime(pool, index) * (1 + 0.1*float64(pool.Row(index)[1]))
	}))
	nonsense := trials(memoryOf(pool, 60, func(index int) float64 { return 1 + float64(index*7919%101) }))
	opposite := trials(memoryOf(pool, 60, func(index int) float64 { return 10 / kernelTime(pool, index) }))
	t.Logf("cold %d, right %d, nonsense %d, opposite %d", cold, right, nonsense, opposite)
	if right >= cold {
		t.Errorf("%d trials with a good memory, %d without", right, cold)
	}
	for name, got := range map[string]int{"nonsense": nonsense, "the opposite": opposite} {
		if float64(got) > 1.25*float64(cold) {
			t.Errorf("%d trials with a memory of %s, %d without", got, name, cold)
		}
	}
}
