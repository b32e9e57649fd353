package search_test

import (
	"testing"
	"time"

	"pawl/search"
)

func TestDepth(t *testing.T) {
	second := time.Second
	for _, test := range []struct {
		name                 string
		most, width          int
		finished             int
		compiling, measuring time.Duration
		want                 int
	}{
		{"nothing is known", 16, 1, 0, 0, 0, 5},
		{"each answer allows for one more", 16, 1, 4, 4 * second, 4 * second, 9},
		{"no costs are known", 16, 1, 40, 0, 0, 16},
		{"never more than the most", 3, 1, 0, 0, 0, 3},
		{"one at a time", 1, 1, 100, second, second, 1},
		// A point takes three times as long to compile as to measure: three compilers keep
		// the device busy, twice that because points differ, and one point is measured.
		{"compiling takes three times as long", 16, 1, 20, 60 * second, 20 * second, 7},
		{"two devices", 16, 2, 20, 60 * second, 20 * second, 14},
		{"compiling takes fifty times as long", 16, 1, 20, 1000 * second, 20 * second, 16},
		{"cached binaries", 16, 1, 20, 0, 20 * second, 2},
		{"few times are not trusted", 16, 1, 3, 0, 3 * second, 8},
		{"more devices than first points", 16, 8, 0, 0, 0, 9},
	} {
		depth := search.Depth{Most: test.most, Width: test.width}
		if got := depth.At(test.finished, test.compiling, test.measuring); got != test.want {
			t.Errorf("%s: %d in flight, want %d", test.name, got, test.want)
		}
	}
	// Twice as long to compile as to measure: in the order asked five would do.
	for _, finished := range []int{0, 20} {
		choosing := search.Depth{Most: 16, Width: 1, Chosen: true}
		if got, want := choosing.At(finished, 40*second, 20*second), 4+finished/3; got != want {
			t.Errorf("%d in flight after %d trials where the device chooses, want %d", got, finished, want)
		}
		choosing.Timed = true
		if got := choosing.At(finished, 40*second, 20*second); got != 16 {
			t.Errorf("%d in flight after %d trials where time is the limit, want all 16", got, finished)
		}
	}
	if got := (search.Depth{Most: 16, Width: 2, Chosen: true}).At(0, 0, 0); got != 5 {
		t.Errorf("%d in flight at first for two devices that choose, want 5", got)
	}
	if search.Lanes(16, 2) != 3 || search.Lanes(16, 64) != 16 {
		t.Error("two compilers can use three trials, 64 compilers all")
	}
}
