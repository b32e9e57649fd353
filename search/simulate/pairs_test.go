package simulate

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"pawl/search/replay"
)

// bowlOn is the bowl as recorded on a device for a workload.
func bowlOn(t *testing.T, kernel, device string) *replay.Record {
	record := bowl(t, 12)
	record.Kernel, record.Environment.Device = kernel, device
	return record
}

func TestPairsAreOfOneKernel(t *testing.T) {
	one, two := recorded(t, bowlOn(t, "bowl", "NVIDIA one")), recorded(t, bowlOn(t, "bowl", "NVIDIA two"))
	one.name, two.name = "one", "two"
	other := recorded(t, bowlOn(t, "other", "NVIDIA one"))
	options := Options{Samplers: []string{"gp"}, Seeds: 4, Trials: 10, EarlierTrials: 30, Ahead: 1}.withDefaults()
	report, err := runPairs(context.Background(), []*Recorded{one, two, other}, options)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Pairs) != 2 || report.Pairs[0].From != "two" || report.Pairs[0].To != "one" ||
		report.Pairs[0].SameDevice {
		t.Fatalf("pairs %+v", report.Pairs)
	}
	// The same bowl again: the earlier search's best point comes first.
	for _, p := range report.Pairs {
		if p.Ranked[0] != 1 {
			t.Errorf("from %s to %s its own order reaches %v", p.From, p.To, p.Ranked)
		}
		if p.Warm[0].Mean < 0.95 || p.Help[0].Budget != 5 || p.Help[0].Gain.Mean < 0 {
			t.Errorf("from %s to %s %.3f at 5, cold %.3f", p.From, p.To, p.Warm[0].Mean, p.Cold[0].Mean)
		}
	}
	var text bytes.Buffer
	if err := report.WriteTable(&text); err != nil || !strings.Contains(text.String(), "worst pair at 10: ") {
		t.Errorf("%s%v", &text, err)
	}
	if _, err := runPairs(context.Background(), []*Recorded{one, other}, options); err == nil ||
		!strings.Contains(err.Error(), "same kernel") {
		t.Errorf("no pair: %v", err)
	}
}

// By hand: alone the others would try 0, 1, 2 and 2, 1, 0. Together 1 takes √4 times as long as their
// fastest, 0 and 2 take √8 times.
func TestOthersRankTogether(t *testing.T) {
	here, one, two := line(t, 3, 1, 2), line(t, 1, 2, 8), line(t, 8, 2, 1)
	for _, test := range []struct {
		others []*Recorded
		want   []float64
	}{
		{[]*Recorded{one}, []float64{1.0 / 3, 1}},
		{[]*Recorded{two}, []float64{1.0 / 2, 1}},
		{[]*Recorded{one, two}, []float64{1, 1}},
	} {
		if got := here.ranked(test.others, []int{1, 2}); !slices.Equal(got, test.want) {
			t.Errorf("%d others reach %v, want %v", len(test.others), got, test.want)
		}
	}
}

// Points are taken over from any device, expectations from the same maker's only.
func TestWarmTrustsTheSameMakerOnly(t *testing.T) {
	here := recorded(t, bowlOn(t, "bowl", "NVIDIA one"))
	for device, trusted := range map[string]bool{"NVIDIA one": true, "NVIDIA two": true, "AMD one": false} {
		other := recorded(t, bowlOn(t, "bowl", device))
		earlier, err := other.earlier(context.Background(), entrant{sampler: "random"}, 1, Options{Trials: 20}.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		learned, err := here.learn(other, earlier)
		if err != nil || len(learned.first) == 0 || len(learned.memory[0].Points) > 0 != trusted {
			t.Errorf("%s: %d first points, %d remembered, %v", device, len(learned.first), len(learned.memory[0].Points), err)
		}
	}
}
