package ratchet

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/gate"
	"pawl/gate/slowdown"
	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/objective/experiment"
)

// SelfTest slows a kernel by known shares of its own time, compares it with itself
// and counts the verdicts.
type SelfTest struct {
	Kernel *kernels.Kernel
	// Workload and At choose the point, as in [devices.Builder.Open].
	Workload, At string
	// Slowdowns are the shares: 0.03 is 3 %.
	Slowdowns []float64
	// Comparisons is how many are made for each slowdown, at least 1.
	Comparisons int
	Policy      gate.Policy
	Seed        uint64
	// Observe is called after each comparison of all slowdowns with what they came
	// to; nil for none.
	Observe func(done int, verdicts []string)
}

// SelfTestRow counts the verdicts at one slowdown.
type SelfTestRow struct {
	// Slowdown is the injected share.
	Slowdown    float64              `json:"slowdown"`
	Comparisons int                  `json:"comparisons"`
	Verdicts    map[gate.Verdict]int `json:"verdicts"`
	// Warned is how often the slowest calls were said to be slower.
	Warned int `json:"warned"`
	// Reasons counts what made comparisons inconclusive.
	Reasons map[string]int `json:"reasons"`
	// Changes are what was measured, positive means faster.
	Changes []float64 `json:"changes"`
	Rounds  []float64 `json:"rounds"`
	Seconds []float64 `json:"seconds"`
}

// Medians returns the medians of the changes, the rounds and the seconds; measured is
// false where no comparison came to evidence.
func (r SelfTestRow) Medians() (change, rounds, seconds float64, measured bool) {
	if measured = len(r.Changes) > 0; measured {
		change, rounds = stats.Median(r.Changes), stats.Median(r.Rounds)
	}
	return change, rounds, stats.Median(r.Seconds), measured
}

// Run makes the comparisons. The slowdowns take turns, so that an hour of noise hits
// all of them. With an error it returns what there is.
func (s SelfTest) Run(ctx context.Context, b *devices.Builder) (rows []SelfTestRow, err error) {
	base, slowed, err := s.build(ctx, b)
	for _, side := range append(slowed, base) {
		if side != nil {
			defer side.Close()
		}
	}
	if err != nil {
		return nil, err
	}
	for _, share := range s.Slowdowns {
		rows = append(rows, SelfTestRow{Slowdown: share, Verdicts: map[gate.Verdict]int{}, Reasons: map[string]int{}})
	}
	for n := range s.Comparisons {
		var verdicts []string
		for i := range rows {
			verdict, err := rows[i].compare(ctx, base, slowed[i], s.Policy, s.Seed+uint64(n))
			if err != nil {
				return slices.DeleteFunc(rows, func(r SelfTestRow) bool { return r.Comparisons == 0 }), err
			}
			verdicts = append(verdicts, verdict)
		}
		if s.Observe != nil {
			s.Observe(n+1, verdicts)
		}
	}
	return rows, nil
}

// compare makes one comparison and says what it came to.
func (r *SelfTestRow) compare(ctx context.Context, base, slowed *devices.Configuration, p gate.Policy,
	seed uint64) (string, error) {
	began := time.Now()
	c, err := gate.Compare(ctx, gate.Arms{gate.Baseline: base.Arm(), gate.Candidate: slowed.Arm()}, p,
		gate.Options{Seed: seed, Samples: samplesOf(base, 0)})
	if err != nil {
		return "", err
	}
	r.Comparisons++
	r.Verdicts[c.Verdict]++
	if c.SlowerTail() {
		r.Warned++
	}
	if c.Verdict == gate.Inconclusive {
		reason, _, _ := strings.Cut(c.Reason, ":")
		r.Reasons[reason]++
	}
	r.Seconds = append(r.Seconds, time.Since(began).Seconds())
	if c.Evidence == nil {
		return string(c.Verdict), nil
	}
	r.Changes = append(r.Changes, c.Evidence.Change)
	r.Rounds = append(r.Rounds, float64(c.Evidence.Rounds))
	return fmt.Sprintf("%s, %s in %d rounds", c.Verdict, page.Change(c.Evidence.Change), c.Evidence.Rounds), nil
}

// build prepares the kernel without a slowdown and once for each. What it returns
// with an error is to be closed too.
func (s SelfTest) build(ctx context.Context,
	b *devices.Builder) (base *devices.Configuration, slowed []*devices.Configuration, err error) {
	if s.Kernel.On().Program {
		return nil, nil,
			fmt.Errorf("kernel %s is a program, and pawl can only slow down kernels that it calls", s.Kernel.Name)
	}
	var calibration slowdown.Calibration
	if base, err = s.slow(ctx, b, 0, calibration); err != nil {
		return base, nil, err
	}
	if s.Kernel.On().GPU && slices.Max(s.Slowdowns) > 0 {
		if calibration, err = s.calibrate(ctx, b, base); err != nil {
			return base, nil, err
		}
	}
	for _, share := range s.Slowdowns {
		side, err := s.slow(ctx, b, share, calibration)
		slowed = append(slowed, side)
		if err != nil {
			return base, slowed, err
		}
	}
	return base, slowed, nil
}

// slow prepares a copy of the kernel that is slower by a share, and checks its
// results.
func (s SelfTest) slow(ctx context.Context, b *devices.Builder, share float64,
	calibration slowdown.Calibration) (*devices.Configuration, error) {
	k := s.Kernel
	from, err := b.Folder(k)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(b.Cache, "selftest", fmt.Sprintf("%s-%s-%g", k.Name, k.Backend, 100*share))
	if err := slowdown.Write(k, from, folder, share, calibration); err != nil {
		return nil, err
	}
	copied, err := kernels.Load(folder, k.Backend)
	if err != nil {
		return nil, err
	}
	side, err := b.Open(ctx, copied, s.Workload, s.At)
	if err != nil {
		return nil, err
	}
	failure := side.Prepared.Failure
	if failure == nil {
		failure, err = side.Evaluator.Verify(ctx, side.Prepared)
	}
	if failure != nil {
		err = fmt.Errorf("kernel %s, slowed by %g %%: %s", k.Name, 100*share, failure)
	}
	return side, err
}

// calibrationShares are the slowdowns that the spin is calibrated by, one after the
// other. The last is near those that are injected.
var calibrationShares = []float64{0.3, 0.05}

// calibrate finds out how long the kernel takes on a GPU, and by how much a spin
// slows it.
func (s SelfTest) calibrate(ctx context.Context, b *devices.Builder,
	base *devices.Configuration) (slowdown.Calibration, error) {
	alone, err := mediansInTurns(ctx, base)
	if err != nil {
		return slowdown.Calibration{}, err
	}
	calibration := slowdown.Begin(stats.Median(alone[0]))
	for _, share := range calibrationShares {
		slowed, err := s.slow(ctx, b, share, calibration)
		if slowed != nil {
			defer slowed.Close()
		}
		if err != nil {
			return calibration, err
		}
		times, err := mediansInTurns(ctx, base, slowed)
		if err != nil {
			return calibration, err
		}
		ratios := make([]float64, len(times[0]))
		for i := range ratios {
			ratios[i] = times[1][i] / times[0][i]
		}
		calibration = calibration.Learn(share, stats.Median(ratios))
	}
	return calibration, nil
}

// mediansInTurns measures sides in turns, in a few processes that they share, and
// returns the median of each process by side, in milliseconds.
func mediansInTurns(ctx context.Context, sides ...*devices.Configuration) ([][]float64, error) {
	e := experiment.Experiment{
		AllNeeded: true, Seed: stats.FreshSeed(),
		Arms: collect.Each(sides, func(c *devices.Configuration) experiment.Arm { return c.Arm() }),
	}
	rounds, err := e.Run(ctx, experiment.Fixed{Rounds: 10, Samples: 20})
	if err != nil {
		return nil, fmt.Errorf("calibrating the spin: %w", err)
	}
	times := make([][]float64, len(sides))
	for _, r := range rounds {
		for i := range sides {
			times[i] = append(times[i], stats.Median(r.Times(i)))
		}
	}
	return times, nil
}
