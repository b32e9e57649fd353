package devices

import (
	"context"
	"errors"
	"slices"
	"time"

	"pawl/internal/collect"
	"pawl/internal/stats"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/experiment"
	"pawl/objective/worker"
	"pawl/space"
)

// PointMeasurement is a single point, measured alone in several processes. Times are
// milliseconds.
type PointMeasurement struct {
	Kernel   string      `json:"kernel"`
	Workload string      `json:"workload"`
	Point    space.Point `json:"point"`
	Figures
	// Resources is what the compiler says that the point needs, Conditions the
	// state of the device.
	Resources  *objective.Resources `json:"resources,omitempty"`
	Conditions *worker.Conditions   `json:"conditions,omitempty"`
	Rounds     [][]float64          `json:"rounds"`
	// Kinds are the other kinds of data that were asked for, measured in the same processes.
	Kinds       []KindMeasurement     `json:"kinds,omitempty"`
	Batch       int                   `json:"batch"`
	Binary      string                `json:"binary"`
	Environment objective.Environment `json:"environment"`
	Measured    time.Time             `json:"measured"`
	// Evidence is what the point has passed before it was measured.
	Evidence *check.Evidence `json:"-"`
}

// Figures are what the samples say.
type Figures struct {
	Milliseconds float64        `json:"milliseconds"`
	Interval     stats.Interval `json:"interval"`
	// CV is the standard deviation of all samples over their mean; Variation is
	// what is left of it without drift, steps and outliers.
	CV        float64 `json:"cv"`
	Variation float64 `json:"variation"`
	// Percentiles and the least are over all samples; drift is from the first
	// third of a process to its last, positive when it got faster.
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Least float64 `json:"least"`
	Drift float64 `json:"drift"`
	// Gigaflops and Gigabytes are per second, Roofline the share of the best
	// that the device can do; 0 where unknown.
	Gigaflops float64 `json:"gigaflops,omitempty"`
	Gigabytes float64 `json:"gigabytes,omitempty"`
	Roofline  float64 `json:"roofline,omitempty"`
}

// KindMeasurement is a point on one kind of data.
type KindMeasurement struct {
	Kind         string         `json:"kind"`
	Milliseconds float64        `json:"milliseconds"`
	Interval     stats.Interval `json:"interval"`
	Rounds       [][]float64    `json:"rounds"`
}

// MeasurePoint checks a point in full and measures it in so many fresh processes. A failure
// says that the point itself does not work; an error that the machinery broke.
func MeasurePoint(ctx context.Context, c *Configuration, rounds, samples int, kinds ...string) (*PointMeasurement,
	*objective.Failure, error) {
	m := &PointMeasurement{
		Kernel: c.Kernel.Name, Workload: c.Workload.Name, Point: c.Prepared.Point,
		Environment: c.Backend.Facts().Environment, Measured: time.Now().UTC(),
	}
	sampled := Configuration{c.Bench, c.Prepared}
	sampled.Prepared.Kinds = kinds
	failure, err := c.Evaluator.Verify(ctx, sampled.Prepared)
	if err != nil || failure != nil {
		return m, failure, err
	}
	e := experiment.Experiment{Arms: []experiment.Arm{sampled.ArmAlone()}, AllNeeded: true}
	measured, err := e.Run(ctx, experiment.Fixed{Rounds: rounds, Samples: samples})
	for _, r := range measured {
		o := r.Samples[0].Outcome
		m.Rounds, m.Batch, m.Binary = append(m.Rounds, o.Samples), o.Batch, o.Binary
		m.addKinds(o.Kinds)
		m.Evidence, m.Conditions = m.Evidence.Join(o.Evidence), m.Conditions.Join(o.Conditions)
	}
	if failed, is := errors.AsType[*experiment.Failed](err); is {
		return m, failed.Failure, nil
	}
	if err != nil {
		return m, nil, err
	}
	m.Resources = c.Prepared.Binary.Resources
	flops, bytes, err := c.Work()
	if err != nil {
		return m, nil, err
	}
	m.summarise(flops, bytes, c.Backend.Facts().Roofline)
	for i := range m.Kinds {
		k := &m.Kinds[i]
		medians := collect.Each(k.Rounds, stats.Median)
		k.Milliseconds, k.Interval = stats.Median(medians), stats.MedianInterval(medians, 0.95)
	}
	return m, nil, nil
}

func (m *PointMeasurement) addKinds(measured []objective.KindSamples) {
	for _, k := range measured {
		at := slices.IndexFunc(m.Kinds, func(known KindMeasurement) bool { return known.Kind == k.Kind })
		if at < 0 {
			at = len(m.Kinds)
			m.Kinds = append(m.Kinds, KindMeasurement{Kind: k.Kind})
		}
		m.Kinds[at].Rounds = append(m.Kinds[at].Rounds, k.Samples)
	}
}

// FewestProcesses is how many processes have a 95 % interval.
var FewestProcesses = stats.FewestForInterval

// summarise computes what the samples say. The interval is over processes, because
// they differ more than the launches inside one; too few of them have none.
func (m *PointMeasurement) summarise(flops, bytes float64, roofline objective.Roofline) {
	all, medians := slices.Concat(m.Rounds...), collect.Each(m.Rounds, stats.Median)
	m.Milliseconds = stats.Median(medians)
	m.Interval = stats.MedianInterval(medians, 0.95)
	m.CV, m.Variation = stats.CV(all), stats.RobustCV(all)
	m.P50, m.P95, m.P99, m.Least = stats.Median(all), stats.Quantile(all, 0.95), stats.Quantile(all, 0.99),
		stats.Quantile(all, 0)
	m.Drift = stats.Median(collect.Each(m.Rounds, stats.Drift))
	m.Gigaflops, m.Gigabytes = flops/m.Milliseconds/1e6, bytes/m.Milliseconds/1e6
	if roofline = roofline.Comparable(); roofline.Flops > 0 && roofline.Bytes > 0 {
		m.Roofline = max(1e9*m.Gigaflops/roofline.Flops, 1e9*m.Gigabytes/roofline.Bytes)
	}
}
