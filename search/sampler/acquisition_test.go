package sampler

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// bowlTime grows with the distance from one point of the kernel's pool.
func bowlTime(row []uint16) float64 {
	time := 1.0
	for i, value := range row {
		distance := float64(value) - float64([]int{4, 1, 1, 0}[i%4])
		time += distance * distance
	}
	return time
}

// After some answers, the pending point that is next to the best one has a larger acquisition than one far
// away, whatever the order in which they were asked; and what else is pending does not count.
func TestThePointWithTheLargestAcquisitionIsMeasuredNext(t *testing.T) {
	pool := kernelPool(t)
	for _, name := range []string{"gp", "auto"} {
		chooser, err := New(name, pool.Space(), Defaults())
		if err != nil {
			t.Fatal(err)
		}
		view := NewView(pool)
		if got := NextToMeasure(chooser, view, []int{5, 3}); got != 0 {
			t.Errorf("%s: with nothing known number %d is first", name, got)
		}
		for trial := range 20 {
			index := chooser.Next(view, rand.New(rand.NewPCG(7, uint64(trial))))
			view.Ask(index)
			view.Observe(Observation{Index: index, Milliseconds: bowlTime(pool.Row(index))})
		}
		free := slices.DeleteFunc(slices.Collect(func(yield func(int) bool) {
			for i := range pool.Len() {
				if !yield(i) {
					return
				}
			}
		}), func(i int) bool { return !view.Free(i) })
		slices.SortStableFunc(free, func(a, b int) int {
			return int(1000 * (bowlTime(pool.Row(a)) - bowlTime(pool.Row(b))))
		})
		near, far := free[0], free[len(free)-1]
		before := chooser.(Ranker).Acquisition(view, []int{far, near})
		if NextToMeasure(chooser, view, []int{far, near}) != 1 || NextToMeasure(chooser, view, []int{near, far}) != 0 {
			t.Errorf("%s: %s before %s, whose acquisitions are %v", name, pool.Point(far), pool.Point(near), before)
		}
		view.Ask(free[1])
		fresh, _ := New(name, pool.Space(), Defaults())
		if got := fresh.(Ranker).Acquisition(view, []int{far, near}); !slices.Equal(got, before) {
			t.Errorf("%s: a fresh sampler with another point pending says %v, the used one %v", name, got, before)
		}
	}
	if NextToMeasure(randomSampler{}, NewView(pool), []int{5, 3}) != 0 {
		t.Error("random does not keep to the order asked")
	}
}
