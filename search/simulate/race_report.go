package simulate

import (
	"math"
	"slices"
	"time"

	"pawl/internal/collect"
	"pawl/internal/stats"
)

// budgets are the numbers of evaluations that a report looks at, as far as the
// searches went. The last trial is always among them.
var budgets = []int{25, 50, 100, 200}

// Report is the result of a simulation.
type Report struct {
	Seeds  int `json:"seeds"`
	Trials int `json:"trials"`
	// Ahead is the largest number of trials in flight in each search, 0 where it is what tune
	// has on the device of each space: see SpaceReport.
	Ahead   int `json:"ahead,omitempty"`
	Devices int `json:"devices"`
	// Clock says that a budget is what so many average points cost.
	Clock   bool  `json:"clock,omitempty"`
	Budgets []int `json:"budgets"`
	// Spaces are in the order of the files.
	Spaces []SpaceReport `json:"spaces"`
	// Overall averages over the spaces, in the order of the samplers.
	Overall []SamplerReport `json:"overall"`
}

// SpaceReport is one space's part.
type SpaceReport struct {
	Name     string `json:"name"`
	Kernel   string `json:"kernel"`
	Workload string `json:"workload"`
	Device   string `json:"device"`
	// Points is the size of the space; Working of them have a time.
	Points  int `json:"points"`
	Working int `json:"working"`
	// Ahead is the largest number of trials in flight.
	Ahead int `json:"ahead"`
	// Optimum is the fastest recorded time in milliseconds.
	Optimum  float64         `json:"optimum"`
	Samplers []SamplerReport `json:"samplers"`
}

// SamplerReport is what one sampler reached, in one space or over all.
type SamplerReport struct {
	Sampler string `json:"sampler"`
	// Fraction of the optimum at each budget: the optimum's time over that of
	// the point that the search takes to be best, 0 while there is none.
	Fraction []Estimate `json:"fraction"`
	// Within5 and Within1 are the shares of searches within 5 % and 1 % of the optimum at each budget.
	Within5 []float64 `json:"within_5_percent"`
	Within1 []float64 `json:"within_1_percent"`
	// InFlight is the mean number of trials in flight, right after an ask.
	InFlight float64 `json:"in_flight"`
	// AskMean is the time of one ask in milliseconds.
	AskMean float64 `json:"ask_mean_ms"`
	// Calibration is there when it was asked for.
	Calibration *Calibration `json:"calibration,omitempty"`
	// Help compares with the same sampler without help, where it had some, in one space.
	Help []Help `json:"help,omitempty"`
	// BySeed are the fractions at each budget, seed by seed, averaged over the spaces.
	BySeed [][]float64 `json:"by_seed"`
	// Curve is the mean fraction of the optimum after each evaluation.
	Curve []float64 `json:"curve"`
}

// Estimate is a mean over the seeds with its 95 % interval.
type Estimate struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func budgetsFor(trials int) []int {
	return append(slices.DeleteFunc(slices.Clone(budgets), func(b int) bool { return b >= trials }), trials)
}

func newReport(spaces []*Recorded, entrants []entrant, runs [][][]run, options Options) *Report {
	r := &Report{
		Seeds:   options.Seeds,
		Trials:  options.Trials,
		Ahead:   options.Ahead,
		Devices: options.Devices,
		Clock:   options.Clock,
		Budgets: budgetsFor(options.Trials),
	}
	for i, s := range spaces {
		part := SpaceReport{
			Name: s.name, Kernel: s.space.Record().Kernel, Workload: s.space.Record().Workload,
			Device: s.device(),
			Points: s.space.Pool().Len(), Working: len(s.slowToFast),
			Ahead: options.aheadOn(s), Optimum: s.optimum(),
		}
		for j, e := range entrants {
			row := r.sampler(e.label, []*Recorded{s}, [][]run{runs[i][j]}, options)
			if e.warm || e.costAware {
				row.Help = help(s, runs[i][j], runs[i][alone(entrants, e)], r.Budgets)
			}
			part.Samplers = append(part.Samplers, row)
		}
		r.Spaces = append(r.Spaces, part)
	}
	for j, e := range entrants {
		over := collect.Each(runs, func(inSpace [][]run) []run { return inSpace[j] })
		r.Overall = append(r.Overall, r.sampler(e.label, spaces, over, options))
	}
	return r
}

// alone returns the place of the same sampler without help.
func alone(entrants []entrant, helped entrant) int {
	return slices.Index(entrants, entrant{label: helped.sampler, sampler: helped.sampler})
}

// sampler summarises the runs of one sampler over some spaces; runs are by space and seed.
func (r *Report) sampler(name string, spaces []*Recorded, runs [][]run, options Options) SamplerReport {
	report := SamplerReport{Sampler: name, Curve: make([]float64, r.Trials)}
	count := float64(len(spaces))
	var asking time.Duration
	asks, inFlight := 0, 0
	for i, s := range spaces {
		for _, run := range runs[i] {
			for t, best := range run.best {
				report.Curve[t] += s.fraction(best) / count / float64(len(runs[i]))
			}
			asking += run.asking
			asks += run.asks
			inFlight += run.inFlight
		}
	}
	report.AskMean = float64(asking) / float64(time.Millisecond) / float64(max(asks, 1))
	report.InFlight = float64(inFlight) / float64(max(asks, 1))
	for _, budget := range r.Budgets {
		// Seeds are the independent units: over several spaces, the fractions of one seed are averaged first.
		bySeed := make([]float64, r.Seeds)
		var within5, within1 float64
		for i, s := range spaces {
			for seed, run := range runs[i] {
				fraction := s.fraction(run.best[budget-1])
				bySeed[seed] += fraction / count
				if fraction >= 0.95 {
					within5 += 1 / count / float64(r.Seeds)
				}
				if fraction >= 0.99 {
					within1 += 1 / count / float64(r.Seeds)
				}
			}
		}
		report.Fraction = append(report.Fraction, estimate(bySeed))
		report.BySeed = append(report.BySeed, bySeed)
		report.Within5 = append(report.Within5, within5)
		report.Within1 = append(report.Within1, within1)
	}
	if options.Regret {
		report.Calibration = calibration(spaces, runs)
	}
	return report
}

// fraction is the optimum's time over a time, and 0 for none.
func (r *Recorded) fraction(best float64) float64 {
	if math.IsNaN(best) {
		return 0
	}
	return r.optimum() / best
}

func estimate(samples []float64) Estimate {
	interval := stats.MeanInterval(samples, 0.95)
	return Estimate{Mean: stats.Mean(samples), Low: interval.Low, High: interval.High}
}
