package simulate

import (
	"context"
	"slices"
	"testing"
	"time"

	"pawl/search"
)

// timed is a line of points whose times fall, with the seconds that each takes to
// compile and on the device.
func timed(t *testing.T, compile, device []int) *Recorded {
	t.Helper()
	var times []float64
	for i := range compile {
		times = append(times, float64(len(compile)-i))
	}
	record := line(t, times...).space.Record()
	for i := range record.Entries {
		record.Entries[i].Compile = time.Duration(compile[i]) * time.Second
		record.Entries[i].Spent = time.Duration(compile[i]+device[i]) * time.Second
	}
	return recorded(t, record)
}

// The timelines were drawn by hand.
func TestAnswersArriveAsTheyAreCompiled(t *testing.T) {
	compile, device := []int{8, 2, 3, 1, 1}, []int{1, 1, 1, 1, 1}
	for _, test := range []struct {
		name    string
		options Options
		order   []int
		end     int // seconds
	}{
		// One at a time: nothing overlaps.
		{"one in flight", Options{Ahead: 1}, []int{0, 1, 2, 3, 4}, 20},
		// 0 and 1 compile; 1 is done at 2, measured until 3, and 2 is asked: compiled at
		// 6, measured until 7; 3 compiled at 8, together with 0, which was asked first
		// and is measured until 9; 3 until 10; 4, asked at 9, compiled at 10, until 11.
		{"two in flight", Options{Ahead: 2}, []int{1, 2, 0, 3, 4}, 11},
		// 0 holds all up until 9. Then 1 until 10, 2 (asked at 9) compiled at 12 until
		// 13, 3 (asked at 10) until 14, 4 (asked at 13) compiled at 14 until 15.
		{"two in flight, in order", Options{Ahead: 2, InOrder: true}, []int{0, 1, 2, 3, 4}, 15},
		// One compiler: 8, 10, 13, 14, 15, each measured at once.
		{"five in flight, one compiler", Options{Ahead: 5, Lanes: 1}, []int{0, 1, 2, 3, 4}, 16},
	} {
		s := timed(t, compile, device)
		test.options.Trials, test.options.Full = len(compile), true
		result, err := s.race(context.Background(), entrant{sampler: "grid"}, 1, test.options.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		var order []int
		for _, o := range result.observations {
			order = append(order, o.Index)
		}
		// The last point is the optimum.
		if !slices.Equal(order, test.order) || result.near != time.Duration(test.end)*time.Second {
			t.Errorf("%s: %v, the optimum after %v, want %v and %d s", test.name, order, result.near, test.order, test.end)
		}
	}
}

// All are compiled at 1, and the device takes what promises most, here the last of those that
// wait; a point that is not compiled does not count.
func TestADeviceTakesWhatPromisesMost(t *testing.T) {
	s := timed(t, []int{1, 1, 1, 3}, []int{1, 1, 1, 1})
	p := newPipeline(s, Options{Ahead: 4}, func(points []int) int { return len(points) - 1 })
	for i := range 4 {
		p.launch(i)
	}
	var order []int
	for range 4 {
		order = append(order, p.next())
	}
	// Nothing is compiled at 0: 0 is the first that will be, until 2. Then 1 and 2 wait, 2 until
	// 3. Then 1 and 3.
	if want := []int{0, 2, 3, 1}; !slices.Equal(order, want) || p.now != 5*time.Second {
		t.Errorf("%v until %v, want %v until 5 s", order, p.now, want)
	}
}

func TestASearchIsAFunctionOfItsSeedWhateverIsInFlight(t *testing.T) {
	s := recorded(t, costly(t, 16))
	for _, ahead := range []int{2, 16} {
		options := Options{Samplers: []string{"auto"}, Trials: 40, Ahead: ahead}.withDefaults()
		first, err := s.race(t.Context(), entrant{sampler: "auto"}, 3, options)
		if err != nil {
			t.Fatal(err)
		}
		second, err := s.race(t.Context(), entrant{sampler: "auto"}, 3, options)
		if err != nil || !slices.Equal(first.observations, second.observations) {
			t.Errorf("%d in flight: two searches from one seed differ (%v)", ahead, err)
		}
	}
}

func TestTheDepthIsThatOfTheDevice(t *testing.T) {
	record := bowl(t, 4)
	if got := (Options{}).aheadOn(recorded(t, record)); got != search.AcceleratorAhead {
		t.Errorf("%d in flight for a file of another tool", got)
	}
	record.Environment.Backend = "host"
	if got := (Options{}).aheadOn(recorded(t, record)); got != search.DefaultAhead {
		t.Errorf("%d in flight on a processor", got)
	}
	if got := (Options{Lanes: 2}).aheadOn(recorded(t, record)); got != 3 {
		t.Errorf("%d in flight with two compilers", got)
	}
	if got := (Options{Ahead: 3}).aheadOn(recorded(t, record)); got != 3 {
		t.Errorf("%d in flight, 3 asked for", got)
	}
}

// A device that takes as long as a compiler has two points in flight, after the first
// few.
func TestASearchAsksNoFurtherAheadThanIsWorthIt(t *testing.T) {
	s := recorded(t, costly(t, 16)) // nothing to compile, all is measured
	inFlight := func(options Options) float64 {
		options.Trials = 60
		result, err := s.race(t.Context(), entrant{sampler: "random"}, 1, options.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		return float64(result.inFlight) / 60
	}
	if got := inFlight(Options{Ahead: 16, InOrder: true}); got > 3 {
		t.Errorf("%.1f in flight on average", got)
	}
	if got := inFlight(Options{Ahead: 16, Full: true}); got < 14 {
		t.Errorf("%.1f in flight on average where 16 were to be kept", got)
	}
}

func TestMedianNear(t *testing.T) {
	runs := []run{{near: 3 * time.Second}, {}, {near: time.Second}}
	if got := medianNear(runs); got != 3 {
		t.Errorf("median %v, want 3", got)
	}
	if got := medianNear(append(runs, run{})); got != 0 {
		t.Errorf("median %v where half were never near", got)
	}
}
