package stats

import (
	"math"
	"math/bits"
	"testing"
)

func TestMannWhitney(t *testing.T) {
	tied := func(n, factor, modulus int, shift float64) []float64 {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = float64(i*factor%modulus)/10 + shift
		}
		return samples
	}
	consecutive := func(n int, shift float64) []float64 {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = float64(i) + shift
		}
		return samples
	}
	for _, test := range []struct {
		name string
		x, y []float64
		u, p float64
	}{
		// Hollander and Wolfe, example 4.1: one-sided 0.1272. Two-sided and the
		// next by scipy 1.17.1 stats.mannwhitneyu(..., method='exact').
		{"permeability", permeability, atEarlyGestation, 35, 0.2544122544122544},
		{"exact", timesA, timesB, 26, 0.05194805194805195},
		// scipy 1.17.1 stats.mannwhitneyu(..., method='asymptotic').
		{"many ties", tied(60, 37, 23, 1), tied(70, 29, 19, 1.2), 2143, 0.8425138274482419},
		{"many samples", consecutive(60, 0), consecutive(55, 7.5), 1378, 0.12848379227750423},
		// There is no evidence in equal samples.
		{"all equal", []float64{3, 3, 3}, []float64{3, 3}, 3, 1},
		{"all equal, many", make([]float64, 80), make([]float64, 60), 2400, 1},
	} {
		u, p := MannWhitney(test.x, test.y)
		near(t, test.name+": U", u, test.u, 1e-9)
		near(t, test.name+": p", p, test.p, 1e-9)
	}
}

// TestMannWhitneyFarTail asks for a p-value on both sides where one minus a
// distribution function would be zero.
func TestMannWhitneyFarTail(t *testing.T) {
	low, high := make([]float64, 200), make([]float64, 200)
	for i := range low {
		low[i], high[i] = float64(i), float64(i+1000)
	}
	_, below := MannWhitney(low, high)
	_, above := MannWhitney(high, low)
	// scipy 1.17.1 stats.mannwhitneyu(range(200), range(1000, 1200),
	// method='asymptotic').
	const want = 4.830856390397399e-67
	if below != above || math.Abs(below/want-1) > 1e-9 {
		t.Errorf("p = %v and exchanged %v, want %v", below, above, want)
	}
}

// TestMannWhitneyPermutations compares p with all ways to divide small tied samples.
func TestMannWhitneyPermutations(t *testing.T) {
	random := testSource(41)
	for range 60 {
		n, m := 2+random.IntN(4), 2+random.IntN(5)
		values := make([]float64, n+m)
		for i := range values {
			values[i] = math.Round(4 * random.Float64())
		}
		u, p := MannWhitney(values[:n], values[n:])
		small := min(u, float64(n*m)-u)
		// Which sample is called x decides which tail is doubled where ties make the
		// distribution skew; MannWhitney takes that of the lower sample.
		size := n
		if u > float64(n*m)/2 {
			size = m
		}
		within, total := 0.0, 0.0
		for mask := range 1 << (n + m) {
			if bits.OnesCount(uint(mask)) != size {
				continue
			}
			var x, y []float64
			for i, value := range values {
				if mask>>i&1 == 1 {
					x = append(x, value)
				} else {
					y = append(y, value)
				}
			}
			total++
			if (CliffsDelta(x, y)+1)/2*float64(n*m) <= small+1e-9 {
				within++
			}
		}
		want := min(1, 2*within/total)
		if u == float64(n*m)/2 {
			want = 1
		}
		if math.Abs(p-want) > 1e-9 {
			t.Errorf("MannWhitney(%v, %v) = %v, %v, want p %v", values[:n], values[n:], u, p, want)
		}
	}
}
