package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A scene is how simulated rounds are made: relative standard deviations of what
// both contenders of a round share, of what a process adds, and of one sample.
type scene struct{ round, process, sample float64 }

// contenders simulates rounds of ten samples for contenders of the given times.
func (s scene) contenders(random *rand.Rand, rounds int, times ...float64) [][][]float64 {
	contenders := make([][][]float64, len(times))
	for range rounds {
		shared := math.Exp(s.round * random.NormFloat64())
		for i, time := range times {
			own := time * shared * math.Exp(s.process*random.NormFloat64())
			samples := make([]float64, 10)
			for j := range samples {
				samples[j] = own * math.Exp(s.sample*random.NormFloat64())
			}
			contenders[i] = append(contenders[i], samples)
		}
	}
	return contenders
}

func TestSpeedup(t *testing.T) {
	for _, test := range []struct {
		name                string
		baseline, candidate [][]float64
		want                float64
	}{
		// Worked by hand from the definition.
		{"one round", [][]float64{{3, 2, 4}}, [][]float64{{2}}, 1.5},
		{"odd rounds", [][]float64{{2}, {8}, {9}}, [][]float64{{1}, {2}, {3}}, 3},
		{"even rounds: the geometric middle", [][]float64{{2}, {8}}, [][]float64{{1}, {1}}, 4},
		{"slow rounds cancel", [][]float64{{2}, {20}, {200}}, [][]float64{{1}, {10}, {100}}, 2},
		{"unpaired: pooled medians", [][]float64{{6, 2}, {4}}, [][]float64{{1, 2, 3}}, 2},
		{"candidate slower", [][]float64{{1}}, [][]float64{{4}}, 0.25},
	} {
		near(t, test.name, Speedup(test.baseline, test.candidate), test.want, 1e-12)
	}
}

// SpeedupInterval is made of the rounds alone: of 10 rounds at 0.95, from the second lowest
// ratio to the second highest (2*P(Bin(10, 1/2) <= 1) = 22/1024 = 0.021, and 0.109 for 2).
func TestSpeedupInterval(t *testing.T) {
	var base, other [][]float64
	for i := range 10 {
		base, other = append(base, []float64{float64(10 + i), 1e9, 1}), append(other, []float64{10})
	}
	if got := SpeedupInterval(base, other, 0.95); got != (Interval{1.1, 1.8}) {
		t.Errorf("%v, want 1.1 to 1.8", got)
	}
	if got := SpeedupInterval(base[:5], other[:5], 0.95); got.Bounded() {
		t.Errorf("five rounds: %v", got)
	}
	// Rounds that differ by 10 % do not hide a speedup of 2 % inside each of them.
	both := scene{0.10, 0.002, 0.005}.contenders(testSource(23), 10, 1.02, 1)
	if paired := SpeedupInterval(both[0], both[1], 0.95); paired.Low <= 1 || !paired.Contains(1.02) {
		t.Errorf("paired interval %v does not show the speedup of 1.02", paired)
	}
}

func TestSpeedupIntervalCoverage(t *testing.T) {
	const sets = 2000
	for _, rounds := range []int{6, 10, 20} {
		random, covered := testSource(19), 0.0
		for range sets {
			both := scene{0.02, 0.02, 0.01}.contenders(random, rounds, 1.05, 1)
			if SpeedupInterval(both[0], both[1], 0.95).Contains(1.05) {
				covered += 1. / sets
			}
		}
		// At least 0.95; three standard errors are 0.015.
		if covered < 0.935 {
			t.Errorf("%d rounds: the 95 %% interval covers %.3f", rounds, covered)
		}
	}
}

// The geometric mean of one speedup is that speedup, and that of opposite ones is 1; it is
// known better than any of them alone.
func TestMeanSpeedupInterval(t *testing.T) {
	random := testSource(29)
	usual := scene{0.02, 0.01, 0.02}
	var slower, faster [][][]float64
	for range 8 {
		both := usual.contenders(random, 10, 2, 1)
		slower, faster = append(slower, both[0]), append(faster, both[1])
	}
	single := Bootstrap(0).MeanSpeedupInterval(slower[:1], faster[:1])
	if one := Speedup(slower[0], faster[0]); !single.Contains(one) || single.High-single.Low > 0.1 {
		t.Errorf("one speedup of %v: %v", one, single)
	}
	all := Bootstrap(0).MeanSpeedupInterval(slower, faster)
	if !all.Contains(2) || all.High-all.Low > 0.6*(single.High-single.Low) {
		t.Errorf("eight speedups of 2: %v, where one alone is %v", all, single)
	}
	opposite := Bootstrap(0).MeanSpeedupInterval([][][]float64{slower[0], faster[1]}, [][][]float64{faster[0], slower[1]})
	if !opposite.Contains(1) || opposite.High > 1.1 {
		t.Errorf("2 and a half: %v", opposite)
	}
}
