package simulate

import (
	"context"
	"strings"
	"testing"
	"time"

	"pawl/search/replay"
	"pawl/search/sampler"
)

// costly is the bowl with made-up costs: points with an odd A take nine seconds,
// the others one.
func costly(t *testing.T, width int) *replay.Record {
	record := bowl(t, width)
	for i := range record.Entries {
		record.Entries[i].Spent = time.Second
		if (i/width)%2 == 1 {
			record.Entries[i].Spent = 9 * time.Second
		}
	}
	return record
}

func TestTheClockCountsCosts(t *testing.T) {
	record := line(t, 4, 2, 1).space.Record()
	// Grid order costs 1, 4 and 1 s, on average 2: the ticks end at 2, 4, 6 s. The
	// first trial is over at 1 s, the second at 5, the third at 6.
	for i, seconds := range []int{1, 4, 1} {
		record.Entries[i].Spent = time.Duration(seconds) * time.Second
	}
	s := recorded(t, record)
	result, err := s.race(context.Background(), entrant{sampler: "grid"}, 1,
		Options{Trials: 3, Clock: true, Ahead: 1}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{4, 4, 1} {
		if result.best[i] != want {
			t.Errorf("after %d ticks %v, want %v", i+1, result.best[i], want)
		}
	}
}

func TestHeedingTheCostFindsMorePerSecond(t *testing.T) {
	report, err := RunSpaces(context.Background(), []*Recorded{recorded(t, costly(t, 16))},
		Options{Samplers: []string{"gp"}, Seeds: 10, Trials: 30, Clock: true, Ahead: 1})
	if err != nil {
		t.Fatal(err)
	}
	rows := report.Spaces[0].Samplers
	if rows[1].Sampler != "gp cost-aware" || len(rows[0].Help) != 0 {
		t.Fatalf("rows %s, %s", rows[0].Sampler, rows[1].Sampler)
	}
	area := func(row SamplerReport) (sum float64) {
		for _, fraction := range row.Curve {
			sum += fraction / float64(len(row.Curve))
		}
		return sum
	}
	blind, aware := area(rows[0]), area(rows[1])
	t.Logf("mean over the budget: aware %.4f, blind %.4f; at the end %+v", aware, blind, rows[1].Help[len(rows[1].Help)-1])
	if aware <= blind {
		t.Errorf("aware reaches %.4f over the budget, blind %.4f", aware, blind)
	}
	if last := rows[1].Help[len(rows[1].Help)-1]; last.Gain.Mean < -0.01 {
		t.Errorf("at the end heeding the cost has lost %.3f", -last.Gain.Mean)
	}
}

func TestWarmBeginsWithWhatTheOtherSpaceTaught(t *testing.T) {
	space := recorded(t, bowl(t, 16))
	options := Options{Samplers: []string{"gp"}, Seeds: 6, Trials: 20, Ahead: 1, Warm: "itself", other: space}
	report, err := RunSpaces(context.Background(), []*Recorded{space}, options)
	if err != nil {
		t.Fatal(err)
	}
	warm := report.Spaces[0].Samplers[1]
	// The earlier search of the same space has found the optimum, or nearly.
	if warm.Sampler != "gp warm" || warm.Curve[2] < 0.95 {
		t.Errorf("%s reaches %.3f after three trials", warm.Sampler, warm.Curve[2])
	}
	if last := warm.Help[len(warm.Help)-1]; last.Gain.Mean < -0.01 || last.Budget != 20 {
		t.Errorf("help %+v", last)
	}
}

func TestHelpByHand(t *testing.T) {
	s := line(t, 2, 1)
	// Fractions with the help 1, 0.5, 1, without 0.5, 1, 1.
	help := help(s, []run{{best: []float64{1}}, {best: []float64{2}}, {best: []float64{1}}},
		[]run{{best: []float64{2}}, {best: []float64{1}}, {best: []float64{1}}}, []int{1})[0]
	if help.Gain.Mean != 0 || help.Gain.Low > -0.1 || help.Gain.High < 0.1 {
		t.Errorf("%+v", help)
	}
}

func TestAClockNeedsCosts(t *testing.T) {
	_, err := RunSpaces(context.Background(), []*Recorded{line(t, 1, 2)},
		Options{Samplers: []string{"random"}, Clock: true})
	if err == nil || !strings.Contains(err.Error(), "--clock") {
		t.Errorf("error %v", err)
	}
}

// Points are taken over from any device, expectations from the same maker's only.
func TestWarmTrustsTheSameMakerOnly(t *testing.T) {
	on := func(device string) *Recorded {
		record := bowl(t, 12)
		record.Environment.Device = device
		return recorded(t, record)
	}
	here := on("NVIDIA one")
	for device, trusted := range map[string]bool{"NVIDIA one": true, "NVIDIA two": true, "AMD one": false} {
		other := on(device)
		earlier, err := other.race(t.Context(), entrant{sampler: "random"}, 1, Options{Trials: 20}.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		learned := here.learn(other, sampler.TimedOf(earlier.finished))
		if len(learned.first) == 0 || len(learned.memory[0].Points) > 0 != trusted {
			t.Errorf("%s: %d first points, %d remembered", device, len(learned.first), len(learned.memory[0].Points))
		}
	}
}
