package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// testSource returns a random source for simulations, which are part of the tests'
// expectations: a changed seed changes the numbers within their error.
func testSource(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// normalSeries returns n timings around 1 ms with relative noise of the spread and
// lag-1 autocorrelation rho.
func normalSeries(random *rand.Rand, n int, rho, spread float64) []float64 {
	series := make([]float64, n)
	state := random.NormFloat64()
	for i := range series {
		series[i] = 1 + spread*state
		state = rho*state + math.Sqrt(1-rho*rho)*random.NormFloat64()
	}
	return series
}

// congruential returns n values of an autoregression with coefficient rho, driven
// by the linear congruential generator of the C standard's example. It exists so
// that other software can make the same series:
//
//	s = 1
//	for i in range(n): s = (1103515245*s + 12345) % 2**31; x = rho*x + s/2**31 - .5
func congruential(n int, rho float64) []float64 {
	series := make([]float64, n)
	state, value := uint64(1), 0.0
	for i := range series {
		state = (1103515245*state + 12345) % (1 << 31)
		value = rho*value + float64(state)/(1<<31) - 0.5
		series[i] = value
	}
	return series
}

// near reports a got that differs from want by more than the tolerance.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}

// panics reports a call that does not panic with a message of this package.
func panics(t *testing.T, what string, call func()) {
	t.Helper()
	defer func() {
		t.Helper()
		message, _ := recover().(string)
		if len(message) < 7 || message[:7] != "stats: " {
			t.Errorf("%s: panicked with %q, want a message that begins %q", what, message, "stats: ")
		}
	}()
	call()
}
