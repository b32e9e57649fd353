package simulate

import (
	"strings"
	"testing"
	"time"

	"pawl/kernels/records"
)

func attention(t *testing.T) *Recorded {
	t.Helper()
	file, found := records.Of("attention")
	if !found {
		t.Fatal("no record")
	}
	r, err := readRecorded(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Machines die and come back, and every point of every study is measured once.
func TestAVirtualFarmLosesNothing(t *testing.T) {
	f, err := attention(t).newFarm(3, 4, 1,
		FarmOptions{Sampler: "random", Trials: 60, Deaths: 10 * time.Second}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.run(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if f.finished != 4*60 || f.redone == 0 {
		t.Errorf("%d trials finished of %d, %d tasks were done again", f.finished, 4*60, f.redone)
	}
	for _, s := range f.studies {
		if seen := len(s.view.Observations); seen != 60 || s.flights != 0 {
			t.Errorf("a study has seen %d answers of 60, %d are in flight", seen, s.flights)
		}
	}
}

// What limits a farm is what is scarce: two compilers for a GPU, or a slow database.
func TestWhatLimitsAFarm(t *testing.T) {
	r := attention(t)
	for _, c := range []struct {
		options FarmOptions
		limit   string
		// most is the trials a second that the scarce part allows.
		most float64
	}{
		{FarmOptions{Lanes: 2}, "compilers", 2 / r.meanCompile.Seconds()},
		{FarmOptions{Database: 500 * time.Millisecond}, "database", 1},
		{FarmOptions{Queue: 500 * time.Millisecond}, "queue", 1},
		{FarmOptions{Ask: 2 * time.Second}, "asking", 0.5},
	} {
		c.options.Machines, c.options.Sampler, c.options.Trials, c.options.Seeds = []int{1}, "random", 100, 1
		rows, err := r.farms(t.Context(), c.options.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		// Points differ in what they take: the average of 100 is not that of all.
		if row := rows[0]; row.Limit != c.limit || row.TrialsPerSecond > 1.2*c.most || row.TrialsPerSecond < 0.6*c.most {
			t.Errorf("%+v, want %s and %.2f trials/s", row, c.limit, c.most)
		}
	}
}

func TestTheTableOfFarms(t *testing.T) {
	var text strings.Builder
	if err := WriteFarm(&text,
		[]FarmRow{{Machines: 1, Studies: 1, Limit: "compilers", Near: 3, Reached: 0.5, Gain: 1}, {Machines: 10}}); err !=
		nil {
		t.Fatal(err)
	}
	for _, want := range []string{"compilers", "3s (50.0 % reach it)", "1.0×", "~"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
