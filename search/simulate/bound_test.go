package simulate

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pawl/internal/stats"
	"pawl/search"
	"pawl/search/replay"
	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
)

var (
	boundSeeds = flag.Int("bound-seeds", 3, "how many searches of each space end by the bound on what is left")
	boundFiles = flag.String("bound-files", "", "recorded spaces, beside the conjunctions")
)

// conjunction is a space whose times are nearly a sum over its parameters, but for 50 of its 2,880 points, which take
// 40 % less: those with certain values of two parameters, and neighboring ones of the others. No other point leads
// to them.
func conjunction(t testing.TB, seed uint64) *Recorded {
	rng := rand.New(rand.NewPCG(seed, 0x636f6e6a))
	record := &replay.Record{Kernel: "conjunction"}
	var middle []float64
	for i, count := range []int{4, 4, 6, 6, 5} {
		p := space.Param{Name: string(rune('A' + i)), Ordered: true}
		for v := range count {
			p.Values = append(p.Values, space.IntegerValue(int64(1)<<v))
		}
		p.Default = p.Values[0]
		record.Params = append(record.Params, p)
		middle = append(middle, rng.Float64()*float64(count-1))
	}
	a, b, from := rng.IntN(4), rng.IntN(4), rng.IntN(130)
	for i := range 2880 {
		row := []int{i / 720, i / 180 % 4, i / 30 % 6, i / 5 % 6, i % 5}
		time := 1.0
		var text []string
		for j, v := range row {
			time += 0.1 * math.Abs(float64(v)-middle[j])
			text = append(text, fmt.Sprintf("%s=%d", record.Params[j].Name, 1<<v))
		}
		if time *= math.Exp(0.01 * rng.NormFloat64()); row[0] == a && row[1] == b && i%180 >= from && i%180 < from+50 {
			time *= 0.6
		}
		point, err := space.ParsePoint(strings.Join(text, ","))
		if err != nil {
			t.Fatal(err)
		}
		record.Entries = append(record.Entries, replay.Entry{Point: point, Milliseconds: time, Samples: []float64{time}})
	}
	s, err := replay.New(record)
	if err != nil {
		t.Fatal(err)
	}
	return NewRecorded("conjunction", s)
}

// until searches until at most 5 % is left, by the model and so many draws.
func until(t testing.TB, r *Recorded, seed uint64, draws int, past trial.Past) trial.Past {
	settings := sampler.Defaults()
	settings.Regret.Draws = draws
	options := search.Options{
		Sampler: "auto", Settings: &settings, Seed: seed, Ahead: 1, DefaultUnknown: true,
		Goals: trial.Goals{Regret: 0.05, Trials: 300, Rounds: 1, Finalists: 1},
	}
	result, err := search.Run(t.Context(), r.space.Pool(), replay.NewEvaluator(r.space, seed),
		&journal{trials: math.MaxInt}, past, options)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// The model does not know what no trial has met, so that it ends a search too early. Draws say how much is unknown.
func TestBoundEndsASearchAfterDraws(t *testing.T) {
	if testing.Short() {
		t.Skip("about verdicts: the others run through the same goroutines")
	}
	spaces := map[string][]*Recorded{}
	for i := range *boundSeeds {
		spaces["conjunction"] = append(spaces["conjunction"], conjunction(t, uint64(i)))
	}
	for _, file := range strings.Fields(*boundFiles) {
		r, err := readRecorded(file)
		if err != nil {
			t.Fatal(err)
		}
		spaces[r.name] = slices.Repeat([]*Recorded{r}, *boundSeeds)
	}
	for name, list := range spaces {
		for _, draws := range []int{0, sampler.Defaults().Regret.Draws} {
			trials, held, few, ended := 0, 0, 0, 0
			for i, r := range list {
				result := until(t, r, uint64(5000+i), draws, trial.Past{})
				if result.Ended != trial.LittleLeft {
					continue
				}
				if result.Regret.Draws < draws {
					t.Errorf("%s: ended after %d draws", name, result.Regret.Draws)
				}
				ended, trials = ended+1, trials+len(result.Trials)
				best := r.entry(trial.Ranking(result.Trials)[0].Point).Milliseconds
				if 1-r.fraction(best) <= result.Regret.Left+1e-6 {
					held++
				}
				faster := len(r.slowToFast) - 1 - slices.Index(r.slowToFast, best)
				if draws > 0 && float64(faster) <= result.Regret.Better()*float64(r.space.Pool().Len()) {
					few++
				}
			}
			t.Logf("%s, %d draws: %d of %d searches end by the bound, after %d trials; it held in %d, that of the draws in %d",
				name, draws, ended, len(list), trials/max(ended, 1), held, few)
			// The best of many trials beats the best of the draws, so that their bound holds more often than it claims.
			if draws > 0 && ended > 0 && stats.Proportion(few, ended, 0.95).High < 0.9 {
				t.Errorf("%s: the draws' bound held in %d of %d", name, few, ended)
			}
		}
	}
}

// A record tells which of its trials were drawn.
func TestDrawsAfterAnInterruption(t *testing.T) {
	r := conjunction(t, 1)
	draws := sampler.Defaults().Regret.Draws
	whole := until(t, r, 7, draws, trial.Past{})
	if whole.Ended != trial.LittleLeft || whole.Regret.Draws < draws {
		t.Fatalf("ended by %q after %d draws", whole.Ended, whole.Regret.Draws)
	}
	past := trial.Past{Trials: slices.Clone(whole.Trials[:len(whole.Trials)-draws/2])}
	resumed := until(t, r, 7, draws, past)
	if resumed.Ended != whole.Ended || *resumed.Regret != *whole.Regret || !slices.EqualFunc(resumed.Trials, whole.Trials,
		func(a, b trial.Trial) bool { return a.Point == b.Point }) {
		t.Errorf("%d trials, %+v; without an interruption %d, %+v", len(resumed.Trials), resumed.Regret,
			len(whole.Trials), whole.Regret)
	}
}
