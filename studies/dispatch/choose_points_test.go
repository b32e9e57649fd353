package dispatch

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/search/confirm"
	"pawl/space"
)

func point(t testing.TB, text string) space.Point {
	t.Helper()
	p, err := space.ParsePoint(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// field is what candidates take on each workload, in milliseconds; 0 stands for one that does not
// work there and a negative number for one that is wrong there.
func field(t testing.TB, times map[string][]float64) ([]Candidate, []Measured) {
	t.Helper()
	var candidates []Candidate
	var measured []Measured
	workloads := slices.Sorted(func(yield func(string) bool) {
		for name := range times {
			if !yield(name) {
				return
			}
		}
	})
	for i := range times[workloads[0]] {
		candidates = append(candidates, Candidate{Point: point(t, fmt.Sprintf("A=%d", i)), Default: i == 0})
	}
	for _, name := range workloads {
		m := Measured{Workload: name, Failures: map[string]string{}, wrong: map[space.Point]string{}}
		for i, ms := range times[name] {
			p := candidates[i].Point
			switch {
			case ms == 0:
				m.Failures[p.String()] = "does not fit"
			case ms < 0:
				m.wrong[p], m.Failures[p.String()] = "fuzz: wrong result", "fuzz: wrong result"
			default:
				c := confirm.Contender{Point: p}
				for round := range 8 { // rounds differ, and the candidates of a round do so together
					c.Rounds = append(c.Rounds, []float64{ms * (1 + 0.01*float64(round))})
				}
				m.contenders = append(m.contenders, c)
			}
		}
		measured = append(measured, m)
	}
	return candidates, measured
}

func embedded(t testing.TB) *kernels.Kernel {
	t.Helper()
	k, err := kernels.Load("matmul", kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func texts(points []space.Point) (all []string) {
	for _, p := range points {
		all = append(all, p.String())
	}
	return all
}

// Losses worked by hand. Candidate 0 is never best and loses 10 % everywhere; 1 and 2 are best
// on two workloads each and lose half on the others; 3 is best on the last.
var byHand = map[string][]float64{
	"a": {1.1, 1.0, 1.5, 2},
	"b": {1.1, 1.0, 1.5, 2},
	"c": {1.1, 1.5, 1.0, 2},
	"d": {1.1, 1.5, 1.0, 2},
	"e": {1.1, 1.5, 1.5, 1},
}

func TestTheLeastLossForEachNumber(t *testing.T) {
	candidates, measured := field(t, byHand)
	p, err := choose(embedded(t), candidates, measured, 0, 0.03)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		points string
		mean   float64
		worst  float64
	}{
		{"A=0", 0.1, 0.1}, // the compromise
		// Two with the default for the rest: 1.1^(3/5), and not both winners, 1.5^(1/5).
		{"A=0 A=1", math.Pow(1.1, 0.6) - 1, 0.1},
		{"A=1 A=2 A=3", 0, 0},
	} {
		c := p.Choices[i]
		if got := strings.Join(texts(c.Points), " "); got != want.points {
			t.Errorf("%d points: %s, want %s", i+1, got, want.points)
		}
		if math.Abs(c.Mean-want.mean) > 1e-9 || math.Abs(c.Workloads[c.Worst].Loss-want.worst) > 1e-9 {
			t.Errorf("%s: mean %v, worst %v, want %v and %v", want.points, c.Mean, c.Workloads[c.Worst].Loss, want.mean,
				want.worst)
		}
		if !c.MeanInterval.Contains(c.Mean) && math.Abs(c.MeanInterval.Low-c.Mean) > 1e-9 {
			t.Errorf("%s: the mean %v is not in %v", want.points, c.Mean, c.MeanInterval)
		}
	}
	if len(p.Choices) != 3 || p.Shipped != 2 || !p.Choices[2].Everything ||
		!strings.Contains(p.Advice, "Ship 3 points. With fewer") {
		t.Errorf("%d choices, %d is shipped: %s", len(p.Choices), p.Shipped, p.Advice)
	}
}

func TestWhatIsShipped(t *testing.T) {
	for _, test := range []struct {
		wanted int
		limit  float64
		ships  int
		advice string
	}{
		{0, 0.11, 1, "No workload loses more than 10.0 %"},
		{0, 0, 3, "With fewer, c loses 10.0 %, and 0.0 % is the limit"},
		{2, 0.03, 2, "That was asked for, and c loses 10.0 %"},
		{9, 0.03, 3, "Ship 3 points"},
		{1, 0.2, 1, "No workload loses more"},
	} {
		candidates, measured := field(t, byHand)
		p, err := choose(embedded(t), candidates, measured, test.wanted, test.limit)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(p.Choices[p.Shipped].Points); got != test.ships || !strings.Contains(p.Advice, test.advice) {
			t.Errorf("at most %d points, limit %v: ships %d: %s", test.wanted, test.limit, got, p.Advice)
		}
	}
}

func TestOneForAllAndOneWorkload(t *testing.T) {
	candidates, measured := field(t, map[string][]float64{"a": {2, 1}, "b": {2, 1}})
	p, err := choose(embedded(t), candidates, measured, 0, 0.03)
	if err != nil || len(p.Choices) != 1 || !strings.Contains(p.Advice, "best candidate on every workload") {
		t.Errorf("%v, %+v", err, p)
	}
	candidates, measured = field(t, map[string][]float64{"a": {2, 1}})
	if p, err = choose(embedded(t), candidates, measured, 0, 0.03); err != nil ||
		!strings.Contains(p.Advice, "one workload only") {
		t.Errorf("%v, %s", err, p.Advice)
	}
}

// A point that does not work somewhere may be used elsewhere; one that is wrong somewhere is
// used nowhere, however fast it is.
func TestWhatDoesNotWork(t *testing.T) {
	candidates, measured := field(t, map[string][]float64{
		"a": {5, 1, 0.5, 2},
		"b": {5, 0, 0.5, 2},
		"c": {5, 1, -1, 0},
		"d": {5, 0, 0.5, 2},
	})
	p, err := choose(embedded(t), candidates, measured, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	last := p.Choices[len(p.Choices)-1]
	if got := strings.Join(texts(last.Points), " "); got != "A=1 A=3" {
		t.Errorf("everything: %s", got)
	}
	if !strings.Contains(p.Candidates[2].Wrong, "c: fuzz: wrong result") {
		t.Errorf("wrong: %q", p.Candidates[2].Wrong)
	}
	// One point alone must work on all.
	if got := texts(p.Choices[0].Points); len(got) != 1 || got[0] != "A=0" {
		t.Errorf("one point: %v", got)
	}
	var text strings.Builder
	if Text(&text, p); !strings.Contains(text.String(), "A=2 is wrong and used nowhere; c: ") ||
		!strings.Contains(text.String(), "A=1 does not work on b, d: does not fit") {
		t.Errorf("%s", text.String())
	}
	candidates, measured = field(t, map[string][]float64{"a": {1, 2}, "b": {0, -1}})
	var nothing *devices.NothingError
	if _, err := choose(embedded(t), candidates, measured, 0, 0); !errors.As(err, &nothing) ||
		!strings.Contains(err.Error(), "no candidate works on workload b") {
		t.Errorf("%v", err)
	}
}

// A workload that was measured too little is left out, and named; the others have their table.
func TestWhatWasMeasuredTooLittle(t *testing.T) {
	candidates, measured := field(t, map[string][]float64{"a": {2, 1}, "b": {1, 2}})
	for i, c := range measured[1].contenders {
		measured[1].contenders[i].Rounds = c.Rounds[:2]
	}
	const want = "b is not in the table: it has 2 of the 3 rounds that it needs. Run the same command again"
	p, err := choose(embedded(t), candidates, measured, 0, 0)
	if err != nil || len(p.Workloads) != 1 || p.Workloads[0].Workload != "a" {
		t.Fatalf("%v, %+v", err, p)
	}
	var text strings.Builder
	if Text(&text, p); !strings.Contains(text.String(), want) {
		t.Errorf("%s", text.String())
	}
	var nothing *devices.NothingError
	if _, err := choose(embedded(t), candidates, measured[1:], 0, 0); !errors.As(err, &nothing) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
	measured[1].contenders = nil // not even a round
	if p, err := choose(embedded(t), candidates, measured, 0, 0); err != nil ||
		!strings.Contains(p.LeftOut[0], "b is not in the table: it has 0 of the 3 rounds") {
		t.Errorf("%v, %+v", err, p)
	}
}

// Where there are too many sets to try them all, a good one is found all the same: with one
// candidate for each of forty workloads, half of them lose what the others do not.
func TestManyCandidates(t *testing.T) {
	table := make(losses, 40)
	best := make([]int, 40)
	for w := range table {
		table[w], best[w] = make([]float64, 40), w
		for i := range table[w] {
			if i != w {
				table[w][i] = 1
			}
		}
	}
	set, covers := table.least(20, best)
	if want := 20 * math.Log(2); !covers || len(set) != 20 || math.Abs(table.of(set)-want) > 1e-9 {
		t.Errorf("%v, loss %v, want %v", set, table.of(set), want)
	}
	// Small ones agree with trying all.
	for size := 1; size < 4; size++ {
		_, measured := field(t, byHand)
		small := make(losses, len(measured))
		candidates, _ := field(t, byHand)
		for w := range measured {
			small[w], _, _ = lossesOn(&measured[w], candidates)
		}
		all, _ := small.least(size, []int{0, 1, 2, 3})
		greedy, _ := small.greedy(size)
		if small.of(greedy) < small.of(all)-1e-9 {
			t.Errorf("%d points: greedy %v is better than %v", size, greedy, all)
		}
	}
}
