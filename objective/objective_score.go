package objective

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/objective/cache"
	"pawl/space"
)

// NotScored is the reason of a point whose objective has no value, or none that can be
// compared.
const NotScored = "no objective"

// Unmet is the reason of a point that breaks a requirement on what was measured.
const Unmet = "requirement not met"

// WorkFlops and WorkBytes are among what was measured where the work of a launch depends on
// parameters, so that it is another one for every point.
const (
	WorkFlops = "work.flops"
	WorkBytes = "work.bytes"
)

// score turns what was measured into what is compared. Where the manifest names no
// objective that is the time, and nothing changes.
//
// Samples stay samples: each is put through the formula. Only a formula over something
// that a measurement has one of (a percentile, energy) leaves one sample of it.
type score struct {
	kernel *kernels.Kernel
	dims   kernels.Dims
}

// plain says that the time is compared and nothing is required.
func (s *score) plain() bool { return len(s.kernel.Objectives) == 0 && len(s.kernel.Requirements) == 0 }

// ObjectiveOf says how the numbers are written that a kernel's points are compared by; nil
// is a time.
func ObjectiveOf(k *kernels.Kernel) *page.Objective {
	if len(k.Objectives) == 0 && len(k.Requirements) == 0 {
		return nil
	}
	m := &page.Objective{Quantity: page.Quantity{Formula: kernels.Time, Unit: kernels.Milliseconds}}
	for _, q := range k.Quantities() {
		m.Beside = append(m.Beside, page.Quantity{Formula: q.Name, Unit: q.Unit})
	}
	for i, o := range k.Objectives {
		quantity := page.Quantity{Formula: o.Text, Unit: o.Unit, Maximize: o.Maximize}
		if i == 0 {
			m.Quantity = quantity
		}
		m.All = append(m.All, quantity)
	}
	return m
}

// distinguish makes two points with the same machine code two where the objective depends
// on their parameters, or what they should compute, or the size of their scratch.
func (s *score) distinguish(b Binary, point space.Point) Binary {
	names := append(s.kernel.Arguments.Parameters(), s.kernel.ReferenceParams...)
	for _, o := range s.kernel.Objectives {
		names = append(names, o.Parameters...)
	}
	var values []string
	for _, name := range names {
		value, _ := point.Get(name)
		values = append(values, name+"="+value.Define())
	}
	if len(values) > 0 && b.Digest != "" {
		b.Digest = cache.Digest([]byte(b.Digest + "\n" + strings.Join(values, "\n")))
	}
	return b
}

// known are the quantities that need no run: those of the compiler.
func (s *score) known(p Prepared) map[string]float64 {
	known := map[string]float64{}
	if p.Binary.Size > 0 {
		known[kernels.BinarySize] = float64(p.Binary.Size)
	} else if info, err := os.Stat(p.Binary.Path); err == nil {
		known[kernels.BinarySize] = float64(info.Size())
	}
	if r := p.Binary.Resources; r != nil {
		known[kernels.Registers] = float64(r.Registers)
		known[kernels.Spills] = float64(r.SpillStores + r.SpillLoads)
		known[kernels.Shared] = float64(r.StaticShared + r.Shared)
	}
	return known
}

// beforehand fails a point that breaks a requirement on what the compiler says: there is no
// need to run it.
func (s *score) beforehand(p Prepared) *Failure {
	return s.required(Compile, p.Point, s.known(p), true)
}

// required returns the first requirement that does not hold of what is known. Partly
// leaves out those that need more.
func (s *score) required(stage Stage, point space.Point, known map[string]float64, partly bool) *Failure {
	for _, r := range s.kernel.Requirements {
		if missing := lacking(r.Measured, known); missing != "" {
			if partly {
				continue
			}
			return Failed(stage, NotScored, "require %s: %s was not measured", r.Text, missing)
		}
		holds, err := r.Condition.Bool(s.environment(point, known))
		switch {
		case err != nil:
			return Failed(stage, NotScored, "require: %s", err)
		case !holds:
			return Failed(stage, Unmet, "require %s: %s", r.Text, values(r.Measured, known))
		}
	}
	return nil
}

// values writes what was measured of some quantities.
func values(measured []kernels.Quantity, known map[string]float64) string {
	return strings.Join(collect.Each(measured, func(q kernels.Quantity) string {
		return q.Name + " is " + page.Quantity{Unit: q.Unit}.Value(known[q.Name])
	}), ", ")
}

func lacking(measured []kernels.Quantity, known map[string]float64) string {
	q, _ := collect.First(measured, func(q kernels.Quantity) bool {
		_, ok := known[q.Name]
		return !ok
	})
	return q.Name
}

func (s *score) environment(point space.Point, known map[string]float64) space.Environment {
	env := s.dims.Environment()
	for name, value := range known {
		env[name] = value
	}
	env.Set(point)
	return env
}

// apply replaces the samples of an outcome, which are times, by those of the objective, or
// fails it. Series are what was measured beside the time, by name.
func (s *score) apply(p Prepared, o Outcome, series map[string][]float64) Outcome {
	if o.Failure != nil || s.plain() {
		return o
	}
	series = maps.Clone(series)
	if series == nil {
		series = map[string][]float64{}
	}
	series[kernels.Time] = o.Samples
	known := s.known(p)
	for name, values := range series {
		known[name] = stats.Median(values)
	}
	known[kernels.P95], known[kernels.P99] = stats.Quantile(o.Samples, 0.95), stats.Quantile(o.Samples, 0.99)
	known[kernels.Least] = stats.Quantile(o.Samples, 0)
	if s.kernel.Work.Varies(s.dims) {
		flops, bytes, err := s.kernel.Work.For(s.dims, p.Point)
		if err != nil {
			o.Failure, o.Samples = Failed(Bench, NotScored, "work: %s", err), nil
			return o
		}
		known[WorkFlops], known[WorkBytes] = flops, bytes
	}
	o.Measured = known
	if o.Failure = s.required(Bench, p.Point, known, false); o.Failure == nil {
		o = s.compare(p.Point, o, series)
	}
	if o.Failure != nil {
		o.Samples = nil
	}
	return o
}

// compare evaluates the objectives: the first for every sample, the others once.
func (s *score) compare(point space.Point, o Outcome, series map[string][]float64) Outcome {
	for i, objective := range s.kernel.Objectives {
		if missing := lacking(objective.Measured, o.Measured); missing != "" {
			o.Failure = Failed(Bench, NotScored, "%s: %s was not measured", objective.Text, missing)
			return o
		}
		each := []map[string]float64{o.Measured}
		if i == 0 {
			each = samplesOf(objective, o, series)
		}
		var scores []float64
		for _, known := range each {
			value, err := objective.Formula.Number(s.environment(point, known))
			if err != nil || !(value > 0) || math.IsInf(value, 0) {
				o.Failure = &Failure{Bench, NotScored, notPositive(objective, value, err, known)}
				return o
			}
			if objective.Maximize {
				value = 1 / value
			}
			scores = append(scores, value)
		}
		if i == 0 {
			o.Samples = scores
		}
		o.Scores = append(o.Scores, stats.Median(scores))
	}
	return o
}

func notPositive(objective kernels.Objective, value float64, err error, known map[string]float64) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s is %g (%s): points are compared by ratios, so it must be above 0", objective.Text, value,
		values(objective.Measured, known))
}

// samplesOf returns the quantities of each sample, or those of all together where one of
// them is not known of a sample.
func samplesOf(objective kernels.Objective, o Outcome, series map[string][]float64) []map[string]float64 {
	n := len(o.Samples)
	varies := slices.ContainsFunc(objective.Measured, func(q kernels.Quantity) bool { return q.PerSample })
	for _, q := range objective.Measured {
		if q.PerSample && len(series[q.Name]) != n || !q.PerSample && !constant(q) {
			varies = false
		}
	}
	if !varies {
		return []map[string]float64{o.Measured}
	}
	var each []map[string]float64
	for i := range n {
		known := maps.Clone(o.Measured)
		for _, q := range objective.Measured {
			if q.PerSample {
				known[q.Name] = series[q.Name][i]
			}
		}
		each = append(each, known)
	}
	return each
}

// constant says that a quantity is the compiler's, so that it is the same for all samples.
func constant(q kernels.Quantity) bool {
	return slices.Contains([]string{kernels.BinarySize, kernels.Registers, kernels.Spills, kernels.Shared}, q.Name)
}

// incumbent turns the value to beat into a time, 0 where that is not possible: only where the
// objective is a multiple of the time can a time be hopeless.
func (s *score) incumbent(point space.Point, value float64) float64 {
	if len(s.kernel.Objectives) == 0 || value == 0 {
		return value
	}
	o := s.kernel.Objectives[0]
	if o.Maximize || o.Unit != kernels.Milliseconds || len(o.Measured) != 1 || o.Measured[0].Name != kernels.Time {
		return 0
	}
	factor, err := o.Formula.Number(s.environment(point, map[string]float64{kernels.Time: 1}))
	if err != nil || !(factor > 0) {
		return 0
	}
	return value / factor
}
