// Package counters reads what profilers print about one launch of a kernel.
//
// Nothing depends on the order of columns, on the language of the machine or on the units that a
// version of a profiler prefers:
//
//  1. Columns are found by the names in the header. Unknown ones are kept, missing ones are
//     missing: whoever asks for one learns that it is not there.
//  2. Values are turned into base units by the unit that stands with them: seconds, bytes,
//     cycles, per cent. A unit that is not known is kept as it is.
//  3. Which character separates decimals is found out from all numbers together, because one
//     alone, such as 1,234, does not say.
package counters

import (
	"maps"
	"slices"
)

// Metric is a value in base units.
type Metric struct {
	Value float64 `json:"value"`
	// Unit is a base unit such as second, byte/second or %; empty for a plain number.
	Unit string `json:"unit,omitempty"`
}

// Metrics are the counters of one launch, by the profiler's own names.
type Metrics map[string]Metric

// Get returns the value of the first of several names that is there: the same counter has had
// several.
func (m Metrics) Get(names ...string) (float64, bool) {
	for _, name := range names {
		if metric, there := m[name]; there {
			return metric.Value, true
		}
	}
	return 0, false
}

// Names returns all names in order.
func (m Metrics) Names() []string { return slices.Sorted(maps.Keys(m)) }

// Launch is what was printed about one launch.
type Launch struct {
	// Kernel is the function's name, Device the GPU's; empty where the report has none.
	Kernel string `json:"kernel,omitempty"`
	Device string `json:"device,omitempty"`
	// Metrics are the columns that hold a number.
	Metrics Metrics `json:"metrics"`
}
