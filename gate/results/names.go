package results

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// units are the words for units of time, in milliseconds.
var units = map[string]struct {
	name         string
	milliseconds float64
}{
	"ns": {"ns", 1e-6}, "nsec": {"ns", 1e-6}, "nanos": {"ns", 1e-6}, "nanosecond": {"ns", 1e-6},
	"nanoseconds": {"ns", 1e-6},
	"us":          {"µs", 1e-3}, "µs": {"µs", 1e-3}, "μs": {"µs", 1e-3}, "usec": {"µs", 1e-3}, "micros": {"µs", 1e-3},
	"microsecond": {"µs", 1e-3}, "microseconds": {"µs", 1e-3},
	"ms": {"ms", 1}, "msec": {"ms", 1}, "millis": {"ms", 1}, "millisecond": {"ms", 1}, "milliseconds": {"ms", 1},
	"s": {"s", 1e3}, "sec": {"s", 1e3}, "secs": {"s", 1e3}, "second": {"s", 1e3}, "seconds": {"s", 1e3},
}

// unitFields are the names of fields that hold a unit.
var unitFields = []string{"unit", "units", "time_unit", "timeunit", "time_units"}

// The words in a list's name that decide what it is.
var (
	// sampleWords name raw samples.
	sampleWords = []string{
		"sample", "samples", "time", "times", "timing", "timings", "latency", "latencies", "duration", "durations",
		"measurement", "measurements", "elapsed", "runtime", "runtimes", "raw", "round", "rounds", "runs", "processes",
	}
	// otherWords say that a list of times is not the one that was measured; a caller
	// who names such a list is taken at his word.
	otherWords = []string{
		"mean", "means", "median", "medians", "avg", "average", "averages", "min", "max", "minimum", "maximum", "best",
		"worst",
		"std", "stddev", "stdev", "var", "variance", "iqr", "mad", "cv", "warmup", "warmups", "warm", "discarded", "outliers",
		"start", "end", "stamp", "stamps", "timestamp", "timestamps", "begin", "setup", "compile", "budget", "limit",
		"sizes", "size",
	}
	// neverWords are never times: an interval, a shape, a summary or a rate.
	neverWords = []string{
		"ci", "confidence", "interval", "intervals", "bound", "bounds", "range", "ranges", "error", "err", "shape",
		"shapes", "dim", "dims", "stride", "strides",
		"percentile", "percentiles", "quantile", "quantiles", "quartile", "quartiles", "histogram", "hist", "bins", "counts",
		"grid", "block", "tile", "per", "throughput", "bandwidth", "flops", "gflops", "tflops", "gbps", "fps", "qps", "rps",
		"speedup", "speedups", "ratio", "ratios",
	}
	numbered = regexp.MustCompile(`^(ci|p|q|pct)\d+$`) // ci95, p99
)

// words splits a name such as raw_latencies, p95Ms or "time (µs)" into its words, in
// lower case.
func words(name string) []string {
	var parts []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			parts = append(parts, strings.ToLower(string(word)))
			word = nil
		}
	}
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && len(word) > 0 && !unicode.IsUpper(word[len(word)-1]):
			flush()
			word = append(word, r)
		default:
			word = append(word, r)
		}
	}
	flush()
	return parts
}

// isNever reports whether a name says that a list is no list of times.
func isNever(name string) bool {
	return slices.ContainsFunc(words(name),
		func(w string) bool { return slices.Contains(neverWords, w) || numbered.MatchString(w) })
}

// namesSamples reports whether a name says that a list is one of raw samples.
func namesSamples(name string) bool {
	parts := words(name)
	if isNever(name) || slices.ContainsFunc(parts, func(w string) bool { return slices.Contains(otherWords, w) }) {
		return false
	}
	if len(parts) == 1 {
		if _, unit := units[parts[0]]; unit {
			return true
		}
	}
	return slices.ContainsFunc(parts, func(w string) bool { return slices.Contains(sampleWords, w) })
}

// unitOf returns the unit that the names along a path end in, the innermost first,
// or that a field beside the list holds; "" where nothing says.
func unitOf(path []string, fields map[string]string) (string, error) {
	named := ""
	for _, name := range slices.Backward(path) {
		if parts := words(name); len(parts) > 0 && named == "" {
			named = units[parts[len(parts)-1]].name
		}
	}
	for _, field := range unitFields {
		value, found := fields[field]
		if !found {
			continue
		}
		unit, known := units[strings.ToLower(strings.TrimSpace(value))]
		switch {
		case !known:
			return "", fmt.Errorf("%s is %q, which is not a unit of time", field, value)
		case named != "" && named != unit.name:
			return "", fmt.Errorf("%s is %q, but the name %s says %s", field, value, strings.Join(path, "."), named)
		}
		return unit.name, nil
	}
	return named, nil
}

// inMilliseconds converts from a unit that unitOf returned.
func inMilliseconds(processes [][]float64, unit string) ([][]float64, error) {
	factor := 1.0
	if unit != "" {
		factor = units[unit].milliseconds
	}
	converted := make([][]float64, len(processes))
	for i, samples := range processes {
		for _, sample := range samples {
			time := sample * factor
			if !(time > 0) || math.IsInf(time, 0) {
				return nil, fmt.Errorf("%v %s is not a time", sample, unit)
			}
			converted[i] = append(converted[i], time)
		}
	}
	return converted, nil
}
