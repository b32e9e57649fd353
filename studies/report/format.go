package report

import (
	"fmt"
	"strings"
	"time"

	"pawl/internal/stats"
)

// Milliseconds writes a time with four significant digits, in the unit that
// suits it.
func Milliseconds(ms float64) string {
	switch {
	case ms >= 1000:
		return fmt.Sprintf("%.4g s", ms/1000)
	case ms >= 1:
		return fmt.Sprintf("%.4g ms", ms)
	case ms >= 1e-3:
		return fmt.Sprintf("%.4g µs", ms*1e3)
	}
	return fmt.Sprintf("%.4g ns", ms*1e6)
}

// TimeInterval writes an interval of times.
func TimeInterval(i stats.Interval) string {
	if !i.Bounded() {
		return unbounded
	}
	return Milliseconds(i.Low) + " to " + Milliseconds(i.High)
}

// RatioInterval writes an interval of speedups.
func RatioInterval(i stats.Interval) string {
	if !i.Bounded() {
		return unbounded
	}
	return fmt.Sprintf("%.2f to %.2f", i.Low, i.High)
}

// unbounded stands for an interval of which too little is known.
const unbounded = "±∞"

// Throughput writes what a point achieves, or ~ where the manifest has no formula.
func Throughput(t *Timed) string {
	var parts []string
	switch {
	case t.Gigaflops >= 1e4:
		parts = append(parts, fmt.Sprintf("%.4g TFLOP/s", t.Gigaflops/1e3))
	case t.Gigaflops > 0:
		parts = append(parts, fmt.Sprintf("%.4g GFLOP/s", t.Gigaflops))
	}
	if t.Gigabytes > 0 {
		parts = append(parts, fmt.Sprintf("%.3g GB/s", t.Gigabytes))
	}
	if t.Roofline > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %% of the roofline", 100*t.Roofline))
	}
	if len(parts) == 0 {
		return "~"
	}
	return strings.Join(parts, ", ")
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(100 * time.Millisecond).String()
}
