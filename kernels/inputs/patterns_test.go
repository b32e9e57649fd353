package inputs

import (
	"math"
	"slices"
	"testing"

	"pawl/kernels/arguments"
)

// heads is an input of four heads, a sequence of 32 and 64 channels, of a kind of data.
func heads(kind string) arguments.Binding {
	return arguments.Binding{
		Name: "q", Type: "f64", Count: 4 * 32 * 64, Row: 64,
		Values: arguments.Values{Fill: arguments.Normal, Pattern: &arguments.Pattern{
			Kind: kind, Row: 64, Between: 1, Sequence: 32, Slices: 4, Top: 8}},
	}
}

// spread is the root of the mean square of some elements.
func spread(values []float64, counts func(i int) bool) float64 {
	sum, n := 0., 0.
	for i, x := range values {
		if counts(i) {
			sum, n = sum+x*x, n+1
		}
	}
	return math.Sqrt(sum / n)
}

// Each kind differs from independent numbers in the way that its name says.
func TestKindsOfFloats(t *testing.T) {
	draw := func(kind string) []float64 {
		_, values := filled(t, heads(kind), 3)
		return values
	}
	scaled := draw(arguments.Scaled)
	var scales []float64
	for head := range 4 {
		// 2048 normal numbers have a spread of 1 ± 0.016
		exact := math.Log2(spread(scaled, func(i int) bool { return i/(32*64) == head }))
		if near := math.Round(exact); math.Abs(exact-near) > 0.1 || near > 3 || near < -3 {
			t.Errorf("head %d has a scale of 2^%.2f", head, exact)
		}
		scales = append(scales, math.Round(exact))
	}
	if slices.Sort(scales); len(slices.Compact(scales)) != 4 {
		t.Errorf("heads have the same scale: %v", scales)
	}
	growing := draw(arguments.Growing)
	first := spread(growing, func(i int) bool { return i/64%32 == 0 })
	last := spread(growing, func(i int) bool { return i/64%32 == 31 })
	// the factors at the ends of 32 places: 8 · (1/64 + 63/64 · 1/32), and 8
	if math.Abs(first/0.371-1) > 0.2 || math.Abs(last/8-1) > 0.2 {
		t.Errorf("a sequence grows from %.3f to %.3f", first, last)
	}
	channels := draw(arguments.Channels)
	large := spread(channels, func(i int) bool { return i%32 == 1 })
	others := spread(channels, func(i int) bool { return i%32 != 1 })
	if math.Abs(large/8-1) > 0.2 || math.Abs(others-1) > 0.1 {
		t.Errorf("large channels %.2f, others %.2f", large, others)
	}
	zeros := 0
	for _, x := range draw(arguments.Sparse) {
		if x == 0 && !math.Signbit(x) {
			zeros++
		}
	}
	if share := float64(zeros) / (4 * 32 * 64); math.Abs(share-0.75) > 0.03 {
		t.Errorf("%.0f %% are zeros", 100*share)
	}
	ties := draw(arguments.Ties)
	if slices.Sort(ties); len(slices.Compact(ties)) != 8 {
		t.Errorf("%d different numbers", len(slices.Compact(ties)))
	}
}

// Whatever the kind, floats stay in their range, also where 0 is not in it, and change.
func TestKindsKeepTheRange(t *testing.T) {
	for _, bounds := range []arguments.Bounds{{Low: 0, High: 1}, {Low: -3, High: -1}, {Low: 250, High: 300},
		{Low: -0.1, High: 1. / 3}} {
		for _, kind := range []string{arguments.Scaled, arguments.Growing, arguments.Channels, arguments.Sparse,
			arguments.Ties} {
			b := heads(kind)
			b.Type, b.Bounds, b.Pattern.Top, b.Fill = "f32", &bounds, 1, arguments.Uniform
			content, values := filled(t, b, 3)
			low, high := float64(float32(bounds.Low)), float64(float32(bounds.High))
			if slices.Min(values) < low || slices.Max(values) > high {
				t.Errorf("%s in %+v: from %g to %g", kind, bounds, slices.Min(values), slices.Max(values))
			}
			b.Pattern = nil
			if declared, _ := filled(t, b, 3); slices.Equal(content, declared) {
				t.Errorf("%s in %+v is the declared data", kind, bounds)
			}
		}
	}
}

// Most skewed integers are near the low end of the range, and some far from it.
func TestSkewedIntegers(t *testing.T) {
	b := arguments.Binding{Name: "lengths", Type: "i32", Count: 4000, Row: 4000,
		Values: arguments.Values{Fill: arguments.Skewed, Range: &arguments.Range{Low: 1, High: 4096}}}
	lengths := numbers(t, b, 3)
	if low, high := slices.Min(lengths), slices.Max(lengths); low < 1 || high > 4096 || high < 2048 {
		t.Errorf("lengths from %d to %d", low, high)
	}
	slices.Sort(lengths)
	if median := lengths[2000]; median > 128 {
		t.Errorf("half of the lengths are above %d", median)
	}
	rows := arguments.Binding{Name: "rows", Type: "i32", Count: 101, Row: 101, Values: arguments.Values{
		Fill:    arguments.Skewed,
		Content: &arguments.Content{Kind: arguments.RowPointers, Total: 1000, Longest: 1000}}}
	starts := numbers(t, rows, 3)
	longest := int64(0)
	for i := range 100 {
		longest = max(longest, starts[i+1]-starts[i])
	}
	if longest < 150 || starts[100] != 1000 {
		t.Errorf("the longest of 100 rows has %d of %d entries", longest, starts[100])
	}
}
