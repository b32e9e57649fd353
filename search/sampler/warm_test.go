package sampler

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pawl/space"
)

func timed(t *testing.T, text string, milliseconds float64) Timed {
	t.Helper()
	point, err := space.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	return Timed{point, milliseconds}
}

func TestRememberTranslates(t *testing.T) {
	pool := poolOf(t, ordered("A", 16, 32, 64), ordered("NEW", 3, 4))
	measured := []Timed{
		timed(t, "A=16,GONE=1", 5),
		timed(t, "A=60,GONE=1", 4), // 64 is nearest
		timed(t, "A=64,GONE=2", 3), // the same point, and faster
	}
	if other := Remember(pool.Space(), "NVIDIA H200", "AMD Radeon PRO W6600", measured); len(other.Points) > 0 {
		t.Errorf("another maker's device is remembered: %v", other)
	}
	if other := Remember(pool.Space(), "NVIDIA H200", "nvidia A100-PCIE-40GB", measured); len(other.Points) != 2 ||
		other.SameDevice {
		t.Errorf("of the same maker's device %v is remembered", other)
	}
	memory := Remember(pool.Space(), "this GPU", "this GPU", measured)
	if len(memory.Points) != 2 || !memory.SameDevice {
		t.Fatalf("%d points, want 2: %v", len(memory.Points), memory)
	}
	if m := memory.Points[0]; m.Row[0] != 0 || m.Row[1] != 0 || m.Milliseconds != 5 {
		t.Errorf("first %v", m)
	}
	if m := memory.Points[1]; m.Row[0] != 2 || m.Milliseconds != 3 {
		t.Errorf("second %v", m)
	}
}

// memoryOf is an earlier study of random points of a pool.
func memoryOf(pool *space.Pool, count int, time func(index int) float64) Memory {
	rng := rand.New(rand.NewPCG(5, 5))
	var memory Memory
	for _, index := range rng.Perm(pool.Len())[:count] {
		memory.Points = append(memory.Points, Remembered{Row: pool.Row(index), Milliseconds: time(index)})
	}
	return memory
}

func TestMemoryHelpsWhereItIsRightAndDoesNotHarmWhereItIsWrong(t *testing.T) {
	pool := kernelPool(t)
	time := func(index int) float64 { return kernelTime(pool, index) }
	// The trials until the optimum of 1 ms is found, over some seeds.
	trials := func(earlier ...Memory) int {
		sum := 0
		for seed := range uint64(8) {
			sampler, view := newGP(newCommon(pool.Space(), Defaults()), pool.Space()), NewView(pool)
			view.Earlier = earlier
			for {
				index := next(t, sampler, view, seed)
				view.Ask(index)
				view.Observe(Observation{Index: index, Milliseconds: time(index)})
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
	right := memoryOf(pool, 60, func(index int) float64 {
		return 3 * kernelTime(pool, index) * (1 + 0.1*float64(pool.Row(index)[1]))
	})
	nonsense := memoryOf(pool, 60, func(index int) float64 { return 1 + float64(index*7919%101) })
	opposite := memoryOf(pool, 60, func(index int) float64 { return 10 / kernelTime(pool, index) })
	for _, same := range []bool{false, true} {
		right.SameDevice, nonsense.SameDevice, opposite.SameDevice = same, same, same
		if got := trials(right); got >= cold {
			t.Errorf("same device %v: %d trials with a good memory, %d without", same, got, cold)
		}
		for name, memory := range map[string]Memory{"nonsense": nonsense, "the opposite": opposite} {
			if got := trials(memory); float64(got) > 1.25*float64(cold) {
				t.Errorf("same device %v: %d trials with a memory of %s, %d without", same, got, name, cold)
			}
		}
	}
}

func TestTransferTakesTheBestOfEachStudyInTurn(t *testing.T) {
	pool := poolOf(t, ordered("M", 16, 32, 64, 128, 256), ordered("N", 16, 32, 64, 128), ordered("STAGES", 1, 2, 3, 4),
		ordered("DEAD", 1, 2, 3))
	one := []Timed{
		timed(t, "DEAD=1,M=16,N=16,STAGES=1", 1), // the default: tried anyway
		timed(t, "DEAD=1,M=32,N=16,STAGES=1", 2),
		timed(t, "DEAD=1,M=64,N=16,STAGES=1", 3), // too much like the best
		timed(t, "DEAD=1,M=64,N=32,STAGES=2", 4),
	}
	two := []Timed{
		timed(t, "GONE=7,M=100,N=16,STAGES=1", 5), // a value between 64 and 128, an unknown name, a missing one
	}
	// Points that are only in the way: recommendations come from the best quarter.
	for _, study := range []*[]Timed{&one, &two} {
		for range 12 {
			*study = append(*study, timed(t, "DEAD=1,M=16,N=16,STAGES=1", 50))
		}
	}
	var got []string
	for _, p := range Transfer(pool, one, two) {
		got = append(got, p.String())
	}
	want := []string{"DEAD=1,M=32,N=16,STAGES=1", "DEAD=1,M=128,N=16,STAGES=1", "DEAD=1,M=64,N=32,STAGES=2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
