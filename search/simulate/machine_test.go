package simulate

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"pawl/objective"
	"pawl/search"
	"pawl/search/replay"
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
		backend string
		options Options
		order   []int
		end     int // seconds
	}{
		// One at a time: nothing overlaps.
		{"one in flight", "cuda", Options{Ahead: 1}, []int{0, 1, 2, 3, 4}, 20},
		// 0 and 1 compile; 1 is done at 2, measured until 3, and 2 is asked: compiled at
		// 6, measured until 7; 3 compiled at 8, together with 0, which was asked first
		// and is measured until 9; 3 until 10; 4, asked at 9, compiled at 10, until 11.
		{"two in flight", "cuda", Options{Ahead: 2}, []int{1, 2, 0, 3, 4}, 11},
		// 0 holds all up until 9. Then 1 until 10, 2 (asked at 9) compiled at 12 until
		// 13, 3 (asked at 10) until 14, 4 (asked at 13) compiled at 14 until 15.
		{"two in flight, in order", "host", Options{Ahead: 2}, []int{0, 1, 2, 3, 4}, 15},
	} {
		record := timed(t, compile, device).space.Record()
		record.Environment.Backend = test.backend
		s := recorded(t, record)
		test.options.Trials = len(compile)
		result, err := s.race(context.Background(), entrant{sampler: "grid"}, 1, test.options.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		var order []int
		for _, t := range result.finished {
			order = append(order, t.Number)
		}
		// The last point is the optimum.
		if end := s.end(result); !slices.Equal(order, test.order) || end != time.Duration(test.end)*time.Second {
			t.Errorf("%s: %v, the optimum after %v, want %v and %d s", test.name, order, end, test.order, test.end)
		}
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
		if err != nil || !reflect.DeepEqual(first.finished, second.finished) {
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
	if got := (Options{Ahead: 3}).aheadOn(recorded(t, record)); got != 3 {
		t.Errorf("%d in flight, 3 asked for", got)
	}
}

// A processor that takes as long as a compiler has two points in flight, after the first
// few; a GPU whose sampler ranks has more and more, up to all that are allowed.
func TestASearchAsksNoFurtherAheadThanIsWorthIt(t *testing.T) {
	inFlight := func(backend, sampler string) float64 {
		record := costly(t, 16) // nothing to compile, all is measured
		record.Environment.Backend = backend
		options := Options{Trials: 60, Ahead: 16}.withDefaults()
		result, err := recorded(t, record).race(t.Context(), entrant{sampler: sampler}, 1, options)
		if err != nil {
			t.Fatal(err)
		}
		return float64(result.inFlight) / 60
	}
	if got := inFlight("host", "random"); got > 3 {
		t.Errorf("%.1f in flight on average", got)
	}
	if got := inFlight("cuda", "gp"); got < 10 {
		t.Errorf("%.1f in flight on average where 16 were allowed", got)
	}
}

// A device that compilers leave without work measures the best points again, and a compiled point
// waits for the end of that.
func TestADeviceTakesSecondLooks(t *testing.T) {
	m := &machine{lanes: make([]time.Duration, 1)}
	r := line(t, 3, 2)
	e := &evaluator{Evaluator: replay.NewEvaluator(r.space, 1), recorded: r, machine: m}
	ended := false
	m.Prepare(func() time.Duration { return 25 * time.Millisecond }, func() { ended = true })
	if _, err := e.Sample(t.Context(), objective.Prepared{Point: r.space.Pool().Point(0)}, 10); err != nil {
		t.Fatal(err)
	}
	if !ended || m.Elapsed() != 30*time.Millisecond {
		t.Errorf("ten samples of 3 ms end at %v, what takes 25 ms is over: %v", m.Elapsed(), ended)
	}
}

// Two devices halve the time where nothing is compiled.
func TestSeveralDevices(t *testing.T) {
	s := timed(t, []int{0, 0, 0, 0}, []int{2, 2, 2, 2})
	for devices, want := range map[int]time.Duration{1: 8 * time.Second, 2: 4 * time.Second, 4: 2 * time.Second} {
		result, err := s.race(t.Context(), entrant{sampler: "grid"}, 1, Options{Trials: 4, Devices: devices}.withDefaults())
		if end := s.end(result); err != nil || end != want {
			t.Errorf("%d devices: the optimum after %v, want %v; %v", devices, end, want, err)
		}
	}
}

// end is when a search has measured the optimum.
func (r *Recorded) end(result run) time.Duration {
	for _, t := range result.finished {
		if r.entry(t.Point).Milliseconds == r.optimum() {
			return t.Elapsed
		}
	}
	return 0
}
