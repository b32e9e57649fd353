package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"pawl/internal/stats"
)

const (
	// Unknown stands where there is no number.
	Unknown = "~"
	// Unbounded stands for an interval that too few measurements leave open.
	Unbounded = "too few runs"
)

// units are those of times, with their sizes in milliseconds.
var units = []struct {
	name string
	size float64
}{{"s", 1000}, {"ms", 1}, {"µs", 1e-3}, {"ns", 0}}

// Milliseconds writes a time with four significant digits, in the unit that suits it.
// No measurement takes no time, so 0 is unknown.
func Milliseconds(ms float64) string {
	for _, unit := range units {
		if ms > 0 && ms >= unit.size {
			return fmt.Sprintf("%.4g %s", ms/max(unit.size, 1e-6), unit.name)
		}
	}
	return Unknown
}

// ParseShare reads a share between 0 and 1, such as 3% or 0.03.
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, fmt.Errorf("%q is not a share between 0 and 1, such as 3%% or 0.03", text)
	}
	return share, nil
}

// Percent writes a share with one decimal, such as 3.2 %.
func Percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// WholePercent writes a share without decimals, such as 3 %.
func WholePercent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// RobustCV is a robust CV of so many samples as it is written: a level and a slope leave nothing of three.
func RobustCV(written string, samples int) string {
	if samples < 4 {
		return Unknown
	}
	return written
}

// Change writes a share with its sign and one decimal, such as +3.2 %.
func Change(share float64) string { return fmt.Sprintf("%+.1f %%", 100*share) }

// Drift says that times became shorter (positive) or longer, by more than a little and more than the noise.
func Drift(change, noise float64) string {
	const small = 0.03
	if math.Abs(change) <= max(small, noise) {
		return ""
	}
	way := "faster"
	if change < 0 {
		way = "slower"
	}
	return fmt.Sprintf("became %s %s: what is timed changes, or the machine does", WholePercent(math.Abs(change)), way)
}

// TimeInterval writes an interval of milliseconds.
func TimeInterval(i stats.Interval) string { return interval(i, Milliseconds) }

// RatioInterval writes an interval of speedups.
func RatioInterval(i stats.Interval) string {
	return interval(i, func(ratio float64) string { return fmt.Sprintf("%.2f", ratio) })
}

// ChangeInterval writes an interval of changes.
func ChangeInterval(i stats.Interval) string { return interval(i, Change) }

// IntervalIn writes an interval with the text of a column.
func IntervalIn(i stats.Interval, text func(float64) string) string { return interval(i, text) }

func interval(i stats.Interval, text func(float64) string) string {
	if !i.Bounded() {
		return Unbounded
	}
	return text(i.Low) + " to " + text(i.High)
}

// Figure writes a number with about three digits, in millions and billions where it is large, and
// never with an exponent that a reader has to work out.
func Figure(value float64) string {
	switch size := math.Abs(value); {
	case math.IsInf(size, 0):
		return fmt.Sprint(value)
	case size >= 1e9:
		return Figure(value/1e9) + " billion"
	case size >= 1e6:
		return Figure(value/1e6) + " million"
	case size >= 100:
		return fmt.Sprintf("%.0f", value)
	case size > 0 && size < 1e-4: // where %g begins to write exponents
		digits := 2 - int(math.Floor(math.Log10(size)))
		return fmt.Sprintf("%.*f", digits, value)
	}
	return fmt.Sprintf("%.3g", value)
}

// Bytes writes a size with four significant digits, in multiples of 1,024.
func Bytes(size float64) string {
	for _, unit := range []string{"bytes", "KiB", "MiB"} {
		if size < 1024 {
			return fmt.Sprintf("%.4g %s", size, unit)
		}
		size /= 1024
	}
	return fmt.Sprintf("%.4g GiB", size)
}

// Seconds writes how long something took, to a tenth of a second.
func Seconds(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond).String()
}

// Count writes a number of things, such as 1 layout or 3 layouts; many is the plural
// where an s does not make it.
func Count(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", n, many[0])
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Rate writes a number per second with four significant digits and the prefix that suits it, such as 1.2 T.
func Rate(perSecond float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{" T", 1e12}, {" G", 1e9}, {" M", 1e6}} {
		if perSecond >= unit.size {
			return fmt.Sprintf("%.4g%s", perSecond/unit.size, unit.name)
		}
	}
	if perSecond >= 1e3 {
		return fmt.Sprintf("%.0f", perSecond) // a size such as 16384 is read as it is
	}
	return fmt.Sprintf("%.4g", perSecond)
}
