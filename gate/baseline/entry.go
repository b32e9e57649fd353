// Package baseline keeps what performance is compared with: results/baseline.json in the
// repository, and beside it the history of every gate run.
//
// The file is the ratchet's memory, so it is guarded: a digest over each
// entry shows an edit by hand and leaves the others alone, a file that is damaged, foreign or newer is
// reported as such and never overwritten, a number that is not finite is never
// written, and an update is in place completely or not at all. Raw samples are
// kept; what else stands in an entry is computed from them.
package baseline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pawl/gate"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/objective"
)

// Key says what an entry is about.
type Key struct {
	Device   string `json:"device"`
	Kernel   string `json:"kernel"`
	Workload string `json:"workload"`
	// Type is the element type of the kernel's first output.
	Type string `json:"type"`
	// Objective is what is compared where it is not the time: numbers of two objectives say
	// nothing about each other.
	Objective page.Quantity `json:"objective,omitzero"`
}

func (k Key) String() string {
	if k.Objective.Formula != "" {
		return fmt.Sprintf("%s, %s, %s on %s", k.Kernel, k.Workload, k.Objective.Formula, k.Device)
	}
	return fmt.Sprintf("%s, %s, %s on %s", k.Kernel, k.Workload, k.Type, k.Device)
}

func (k Key) compare(other Key) int {
	return strings.Compare(
		k.Kernel+"\x00"+k.Workload+"\x00"+k.Type+"\x00"+k.Device+"\x00"+k.Objective.Formula,
		other.Kernel+"\x00"+other.Workload+"\x00"+other.Type+"\x00"+other.Device+"\x00"+other.Objective.Formula)
}

// Entry is a measured configuration. Times are milliseconds.
type Entry struct {
	Key
	// Origin names the kernel as the user does: an embedded name or a folder.
	Origin string `json:"origin"`
	Dims   string `json:"dims"`
	Point  string `json:"point"`

	Figures
	Environment objective.Environment `json:"environment"`
	// Source is the digest of the kernel's folder, Binary of its machine code.
	Source string `json:"source"`
	Binary string `json:"binary"`
	// Problem identifies what the kernel is called with: the same machine code on
	// other arguments is another measurement.
	Problem string `json:"problem,omitempty"`
	// Commit is where the sources can be found again, empty when unknown; one that
	// ends in -dirty cannot.
	Commit   string    `json:"commit,omitempty"`
	Measured time.Time `json:"measured"`
	// Gain is how much faster than the baseline an entry of [File.Gains] was, as a share.
	Gain float64 `json:"gain,omitempty"`
	// Unproven says that it began a device, or sizes, where others were known: no comparison says
	// that it is as good as they are.
	Unproven bool `json:"unproven,omitempty"`
	// Archive is [Pack]'s of the sources. The commit has them too, until a squash, a rebase or a shallow clone.
	Archive string `json:"archive,omitempty"`
}

// Figures are samples, and what they say.
type Figures struct {
	Median    float64        `json:"median"`
	Interval  stats.Interval `json:"interval"`
	P50       float64        `json:"p50"`
	P95       float64        `json:"p95"`
	P99       float64        `json:"p99"`
	Variation float64        `json:"variation"`
	// Throughput is in flops per second and Bandwidth in bytes per second, by the
	// manifest's formulas; 0 where it has none.
	Throughput float64 `json:"throughput,omitempty"`
	Bandwidth  float64 `json:"bandwidth,omitempty"`
	Samples    Samples `json:"samples"`
}

// better reports whether an entry is faster than another one of the same sizes. It only
// chooses what a candidate is measured beside: times of two days prove nothing.
func (e Entry) better(than Entry) bool { return e.Dims == than.Dims && e.Median < than.Median }

// Work is what one launch does, by the manifest's formulas; 0 for unknown.
type Work struct{ Flops, Bytes float64 }

// Summarise fills what follows from the samples.
func (e *Figures) Summarise(samples [][]float64, work Work) {
	all := slices.Concat(samples...)
	side := gate.Describe(samples)
	e.Samples = samples
	e.Median, e.Interval, e.Variation = side.Median, side.Interval, side.Variation
	e.P50, e.P95, e.P99 = stats.Median(all), stats.Quantile(all, 0.95), stats.Quantile(all, 0.99)
	e.Throughput, e.Bandwidth = work.Flops/(side.Median/1000), work.Bytes/(side.Median/1000)
}
