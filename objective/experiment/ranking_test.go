package experiment

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Where all arms are equal, some interval misses 1 in at most 5 % of the rankings, however many arms there are.
func TestIntervalsOfARankingHoldTogether(t *testing.T) {
	for _, arms := range []int{2, 5, 8} {
		for _, rounds := range []int{12, 30} {
			const rankings = 400
			wrong := 0
			random := rand.New(rand.NewPCG(uint64(arms), uint64(rounds)))
			for range rankings {
				times := make([][][]float64, arms)
				for range rounds {
					level := math.Exp(0.2 * random.NormFloat64()) // of the round
					for arm := range times {
						times[arm] = append(times[arm], []float64{level * math.Exp(0.1*random.NormFloat64())})
					}
				}
				for _, lead := range Rank(times).Leads {
					if !lead.Interval.Contains(1) {
						wrong++
						break
					}
				}
			}
			t.Logf("%d arms, %d rounds: %.1f %%", arms, rounds, 100*float64(wrong)/rankings)
			if wrong > rankings*5/100 {
				t.Errorf("%d arms, %d rounds: %d of %d rankings are wrong", arms, rounds, wrong, rankings)
			}
		}
	}
}

// Nobody is faster than the fastest, by the statistic that chose it, and a reference may be fixed.
func TestTheFastestHasNoRatioBelowOne(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		times := make([][][]float64, 4)
		for range 6 {
			for arm := range times {
				times[arm] = append(times[arm], []float64{math.Exp(0.3 * random.NormFloat64())})
			}
		}
		r := Rank(times)
		for arm, lead := range r.Leads {
			if lead.Ratio < 1 || !lead.Interval.Contains(lead.Ratio) {
				t.Fatalf("arm %d: %+v beside %d", arm, lead, r.Fastest)
			}
		}
	}
	slow, fast := [][]float64{{2}, {2}}, [][]float64{{1}, {1}}
	if r := Rank([][][]float64{slow, fast}, 0); r.Fastest != 0 || r.Leads[1].Ratio != 0.5 || r.Leads[0].Ratio != 1 {
		t.Errorf("%+v", r)
	}
	if r := Rank([][][]float64{slow, fast}); r.Fastest != 1 || r.Leads[0].Ratio != 2 || r.Leads[0].Interval.Bounded() {
		t.Errorf("%+v", r)
	}
}
