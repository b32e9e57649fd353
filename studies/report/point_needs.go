package report

import (
	"fmt"
	"strings"

	"pawl/internal/page"
)

// Needs writes what a point needs of a multiprocessor.
func (t *Timed) Needs() string {
	if t == nil || t.Resources == nil {
		return ""
	}
	r := t.Resources
	text := fmt.Sprintf("%d registers, %s of shared memory", r.Registers, page.Bytes(float64(r.Shared+r.StaticShared)))
	if r.SpillStores+r.SpillLoads > 0 {
		text += fmt.Sprintf(", %s spilled", page.Bytes(float64(r.SpillStores+r.SpillLoads)))
	}
	if r.Occupancy != nil {
		text += "; " + r.Occupancy.String()
	}
	return text
}

// launchText says how the winner is launched, which its parameters decide too.
func launchText(t *Timed) string {
	if t == nil || t.Resources == nil || t.Resources.Launch == nil {
		return ""
	}
	l := t.Resources.Launch
	return fmt.Sprintf("At this workload it is launched with a grid of %d × %d × %d blocks of %d × %d × %d threads and "+
		"%d bytes of dynamic shared memory.",
		l.Grid[0], l.Grid[1], l.Grid[2], l.Block[0], l.Block[1], l.Block[2], l.Shared)
}

// Throughput writes what a point achieves, or ~ where the manifest has no formula.
func Throughput(t *Timed) string {
	var parts []string
	switch {
	case t.Gigaflops >= 1e4:
		parts = append(parts, fmt.Sprintf("%.4g TFLOP/s", t.Gigaflops/1e3))
	case t.Gigaflops > 0:
		parts = append(parts, fmt.Sprintf("%.4g GFLOP/s", t.Gigaflops))
	}
	switch {
	case t.Gigabytes >= 1e3:
		parts = append(parts, fmt.Sprintf("%.3g TB/s", t.Gigabytes/1e3))
	case t.Gigabytes > 0:
		parts = append(parts, fmt.Sprintf("%.3g GB/s", t.Gigabytes))
	}
	if t.Roofline > 0 {
		parts = append(parts, page.WholePercent(t.Roofline)+" of the roofline")
	}
	if len(parts) == 0 {
		return page.Unknown
	}
	return strings.Join(parts, ", ")
}
