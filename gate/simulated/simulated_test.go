package simulated

import (
	"slices"
	"testing"

	"pawl/gate"
	"pawl/internal/thorough"
)

// No false alarm on any machine, however it was measured, and the gate still finds
// what it is there for. The rules were chosen on seeds 1 to 20,000; these are others.
// pawl gate simulate makes the whole table, and CI runs it.
func TestFalseAlarmsAreRare(t *testing.T) {
	comparisons := thorough.Count(2, 6)
	rows, err := Run(t.Context(),
		Options{Comparisons: comparisons, Seed: 50_000, Slowdown: 0.10, Policy: gate.Presets["standard"]})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		t.Logf("%-28s %-26s equal %v slowed %v %+v", r.Fault, r.Method, r.Equal, r.Slowed, r.Together)
		if r.FalseAlarms().Times > 0 {
			t.Errorf("%s, %s: %s false alarms", r.Fault, r.Method, r.FalseAlarms())
		}
		// What a burst hides is inconclusive, never missed.
		if r.Slowed[gate.Regression]+r.Slowed[gate.Inconclusive] < comparisons || r.Slowed[gate.Inconclusive] > 1 {
			t.Errorf("%s: a slowdown of 10 %%: %v", r.Fault, r.Slowed)
		}
		if eroded := r.Together.Eroded; eroded[gate.Regression]+eroded[gate.Inconclusive] < comparisons ||
			eroded[gate.Inconclusive] > 2 {
			t.Errorf("%s: an erosion of 10 %%: %v", r.Fault, eroded)
		}
		if r.Together.Warned.Times > 0 || r.Together.Tails.Times < r.Together.Tails.Of {
			t.Errorf("%s: warnings about tails: %v of equal sides, %v of heavy tails", r.Fault, r.Together.Warned,
				r.Together.Tails)
		}
		if r.Together.Seen.Times < comparisons*2/3 {
			t.Errorf("%s: the printed regression was found %v", r.Fault, r.Together.Seen)
		}
	}
}

// The same seeds make the same row, on any number of processors.
func TestRowsAreTheSameEverywhere(t *testing.T) {
	o := Options{Comparisons: 4, Seed: 3, Slowdown: 0.10, Policy: gate.Presets["relaxed"]}
	first, err := inRounds(t.Context(), Faults[0], o)
	if err != nil {
		t.Fatal(err)
	}
	second, err := inRounds(t.Context(), Faults[0], o)
	if err != nil || !slices.Equal(first.Together.Smallest, second.Together.Smallest) ||
		len(first.Together.Smallest) == 0 {
		t.Errorf("%v: %v and %v", err, first.Together, second.Together)
	}
}
