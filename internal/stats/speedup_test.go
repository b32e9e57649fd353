package stats

import (
	"math"
	"math/rand/v2"
	"slices"
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

// slowSpeedupDraw is one hierarchical draw as the documentation words it, with
// every resample built.
func slowSpeedupDraw(random *rand.Rand, baseline, candidate [][]float64) float64 {
	resample := func(samples []float64) []float64 {
		drawn := make([]float64, len(samples))
		for i := range drawn {
			drawn[i] = samples[random.IntN(len(samples))]
		}
		return drawn
	}
	if len(baseline) != len(candidate) {
		pooled := func(processes [][]float64) float64 {
			var drawn []float64
			for range processes {
				drawn = append(drawn, resample(processes[random.IntN(len(processes))])...)
			}
			return Median(drawn)
		}
		return pooled(baseline) / pooled(candidate)
	}
	logs := make([]float64, len(baseline))
	for i := range logs {
		round := random.IntN(len(baseline))
		logs[i] = math.Log(Median(resample(baseline[round])) / Median(resample(candidate[round])))
	}
	return math.Exp(Median(logs))
}

func TestSpeedupIntervalAgainstResampling(t *testing.T) {
	random := testSource(17)
	both := scene{0.02, 0.01, 0.02}.contenders(random, 9, 1.1, 1)
	both[0][2] = both[0][2][:7] // processes of different sizes
	for _, test := range []struct {
		name      string
		candidate [][]float64
	}{
		{"paired", both[1]}, {"unpaired", both[1][:6]},
	} {
		draws := make([]float64, 10000)
		for i := range draws {
			draws[i] = slowSpeedupDraw(random, both[0], test.candidate)
		}
		want := Interval{Quantile(draws, 0.025), Quantile(draws, 0.975)}
		got := Bootstrap{}.SpeedupInterval(both[0], test.candidate)
		tolerance := 0.06 * (want.High - want.Low)
		near(t, test.name+" low", got.Low, want.Low, tolerance)
		near(t, test.name+" high", got.High, want.High, tolerance)
	}
}

func TestSpeedupIntervalCoverage(t *testing.T) {
	const sets = 400
	for _, test := range []struct {
		name            string
		scene           scene
		atLeast, atMost float64
	}{
		// The usual case: processes differ more than the samples inside.
		{"processes differ", scene{0.02, 0.02, 0.01}, 0.92, 0.98},
		// Known to be conservative: see SpeedupInterval.
		{"processes alike", scene{0.02, 0, 0.01}, 0.98, 1},
	} {
		random, covered, excludesOne := testSource(19), 0.0, 0.0
		for range sets {
			both := test.scene.contenders(random, 10, 1.05, 1)
			interval := Bootstrap{Resamples: 1000}.SpeedupInterval(both[0], both[1])
			if interval.Contains(1.05) {
				covered += 1. / sets
			}
			if interval.Low > 1 {
				excludesOne += 1. / sets
			}
		}
		t.Logf("%s: covers %.3f, sees the 5 %% in %.3f", test.name, covered, excludesOne)
		if covered < test.atLeast || covered > test.atMost {
			t.Errorf("%s: coverage %v, want %v to %v", test.name, covered, test.atLeast, test.atMost)
		}
		if excludesOne < 0.9 {
			t.Errorf("%s: a speedup of 1.05 is seen in %v of the sets only", test.name, excludesOne)
		}
	}
}

// TestSpeedupIntervalPairing shows what pairing is for: rounds that differ by 10 %
// do not hide a speedup of 2 % inside each round.
func TestSpeedupIntervalPairing(t *testing.T) {
	both := scene{0.10, 0.002, 0.005}.contenders(testSource(23), 10, 1.02, 1)
	paired := Bootstrap{}.SpeedupInterval(both[0], both[1])
	if paired.Low <= 1 || !paired.Contains(1.02) {
		t.Errorf("paired interval %v does not show the speedup of 1.02", paired)
	}
	unpaired := Bootstrap{}.SpeedupInterval(both[0], both[1][:9])
	if unpaired.RelativeWidth(1) < 10*paired.RelativeWidth(1) {
		t.Errorf("unpaired interval %v is not far wider than the paired %v", unpaired, paired)
	}
}

// TestSpeedupIntervalInverse relies on the sign convention: exchanging the two sides
// turns the interval into its reciprocal.
func TestSpeedupIntervalInverse(t *testing.T) {
	both := scene{0.02, 0.01, 0.01}.contenders(testSource(29), 10, 1.3, 1)
	forward := Bootstrap{Resamples: 40000}.SpeedupInterval(both[0], both[1])
	backward := Bootstrap{Resamples: 40000}.SpeedupInterval(both[1], both[0])
	near(t, "low", 1/backward.High, forward.Low, 1e-3)
	near(t, "high", 1/backward.Low, forward.High, 1e-3)
}

func TestProbabilityBest(t *testing.T) {
	random := testSource(31)
	sum := func(shares []float64) (total float64) {
		for _, share := range shares {
			total += share
		}
		return total
	}
	steady := scene{0.1, 0.001, 0.001}
	t.Run("clear winner despite slow rounds", func(t *testing.T) {
		got := Bootstrap{}.ProbabilityBest(steady.contenders(random, 8, 1.05, 1, 1.1))
		if got[1] < 0.999 {
			t.Errorf("shares %v, want nearly all for the second", got)
		}
	})
	t.Run("identical contenders split every draw", func(t *testing.T) {
		constant := [][]float64{{2, 2}, {2, 2}, {2, 2}}
		got := Bootstrap{}.ProbabilityBest([][][]float64{constant, constant, constant, constant})
		for _, share := range got {
			near(t, "share", share, 0.25, 1e-9)
		}
	})
	t.Run("two contenders agree with SpeedupInterval", func(t *testing.T) {
		both := scene{0.02, 0.02, 0.01}.contenders(random, 10, 1.01, 1)
		draws := 0.0
		for range 10000 {
			if slowSpeedupDraw(random, both[0], both[1]) > 1 {
				draws++
			}
		}
		// Two binomial shares of 10000 draws: three standard errors are 0.021.
		near(t, "share", Bootstrap{}.ProbabilityBest(both)[1], draws/10000, 0.021)
	})
	t.Run("unpaired", func(t *testing.T) {
		contenders := scene{0.001, 0.001, 0.001}.contenders(random, 8, 1.05, 1)
		contenders[0] = contenders[0][:5]
		if got := (Bootstrap{}).ProbabilityBest(contenders); got[1] < 0.999 {
			t.Errorf("shares %v, want nearly all for the second", got)
		}
	})
	t.Run("shares sum to one", func(t *testing.T) {
		for range 20 {
			times := make([]float64, 1+random.IntN(6))
			for i := range times {
				times[i] = 1 + 0.01*random.Float64()
			}
			contenders := scene{0.02, 0.01, 0.02}.contenders(random, 1+random.IntN(6), times...)
			got := Bootstrap{Resamples: 500}.ProbabilityBest(contenders)
			near(t, "sum", sum(got), 1, 1e-9)
			if slices.Min(got) < 0 {
				t.Errorf("shares %v", got)
			}
		}
	})
	t.Run("no contenders", func(t *testing.T) {
		if got := (Bootstrap{}).ProbabilityBest(nil); len(got) != 0 {
			t.Errorf("shares %v of no contenders", got)
		}
	})
}

// BenchmarkSpeedupInterval holds the budget: 2 x 100 samples in 10 processes and
// 10000 resamples in less than 30 ms.
func BenchmarkSpeedupInterval(b *testing.B) {
	both := scene{0.02, 0.01, 0.01}.contenders(testSource(1), 10, 1.05, 1)
	b.Run("paired", func(b *testing.B) {
		for b.Loop() {
			Bootstrap{}.SpeedupInterval(both[0], both[1])
		}
	})
	b.Run("unpaired", func(b *testing.B) {
		for b.Loop() {
			Bootstrap{}.SpeedupInterval(both[0], both[1][:9])
		}
	})
}

func BenchmarkProbabilityBest(b *testing.B) {
	contenders := scene{0.02, 0.01, 0.01}.contenders(testSource(1), 10, 1, 1.01, 1.02, 1.03, 1.04)
	for b.Loop() {
		Bootstrap{}.ProbabilityBest(contenders)
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
	single := Bootstrap{}.SpeedupInterval(slower[0], faster[0])
	if got := (Bootstrap{}).MeanSpeedupInterval(slower[:1], faster[:1]); math.Abs(got.Low-single.Low) > 1e-12 ||
		math.Abs(got.High-single.High) > 1e-12 {
		t.Errorf("one speedup: %v, want %v", got, single)
	}
	all := Bootstrap{}.MeanSpeedupInterval(slower, faster)
	if !all.Contains(2) || all.High-all.Low > 0.6*(single.High-single.Low) {
		t.Errorf("eight speedups of 2: %v, where one alone is %v", all, single)
	}
	opposite := Bootstrap{}.MeanSpeedupInterval([][][]float64{slower[0], faster[1]}, [][][]float64{faster[0], slower[1]})
	if !opposite.Contains(1) || opposite.High > 1.1 {
		t.Errorf("2 and a half: %v", opposite)
	}
}
