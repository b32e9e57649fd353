package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/objective"
	"pawl/objective/experiment"
	"pawl/objective/worker"
)

// Repeat says how often commands are run that are no kernels.
type Repeat struct {
	// Warmup is how many runs come before those that count.
	Warmup int
	// Runs is how many count. Zero means as many as fit into three seconds, at least ten.
	Runs int
	// Prepare runs before every run and is not timed; without arguments there is none.
	Prepare Line
}

const (
	fewestRuns = 10
	mostRuns   = 1000
	enoughTime = 3 * time.Second
)

// Measurement is a command that was measured: each run is a process of its own. Times are seconds, and the names are
// those that other tools use.
type Measurement struct {
	Command string `json:"command"`
	Figures
	Times    []float64 `json:"times"`
	Codes    []int     `json:"exit_codes"`
	Warmup   int       `json:"warmup"`
	Warnings []string  `json:"warnings,omitempty"`
	// Ratio is how many times as long as the fastest of several commands it takes, with an interval that holds for all
	// of them together; nil for that one.
	Ratio         *float64        `json:"ratio,omitempty"`
	RatioInterval *stats.Interval `json:"ratio_interval,omitempty"`

	users, systems []float64
}

// Figures are what the times of all runs say.
type Figures struct {
	// Median has a bootstrap interval of 95 %, which few runs leave open.
	Median   float64        `json:"median"`
	Interval stats.Interval `json:"interval"`
	Mean     float64        `json:"mean"`
	Stddev   float64        `json:"stddev"`
	User     float64        `json:"user"`
	System   float64        `json:"system"`
	Min      float64        `json:"min"`
	Max      float64        `json:"max"`
	P95      float64        `json:"p95"`
	// CV is the standard deviation over the mean; Variation is what is left of it without
	// drift, steps and outliers. Drift is positive when runs got faster.
	CV        float64 `json:"cv"`
	Variation float64 `json:"variation"`
	Drift     float64 `json:"drift"`
	// Outliers is how many runs are far slower than the others.
	Outliers int `json:"outliers"`
}

// Run runs commands again and again, in rounds that run each once. A fault says that a run failed; the measurement is
// that of its command alone.
func (r Repeat) Run(ctx context.Context, lines ...Line) (all []*Measurement, fault *worker.Fault, err error) {
	programs := collect.Each(lines, func(l Line) *program { return &program{repeat: r, line: l} })
	e := experiment.Experiment{
		Arms: collect.Each(programs, func(p *program) experiment.Arm { return p }), Seed: stats.FreshSeed(), AllNeeded: true,
	}
	measurement := func(l Line) *Measurement {
		return &Measurement{Command: cmp.Or(l.Name, escape.Shell(l.Line...)), Warmup: r.Warmup}
	}
	rounds, err := e.Run(ctx, repetition{r, len(lines)})
	if failed, is := errors.AsType[*experiment.Failed](err); is {
		return []*Measurement{measurement(lines[failed.Arm])}, programs[failed.Arm].fault, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for i, line := range lines {
		m := measurement(line)
		for _, round := range rounds[r.Warmup:] {
			o := round.Sample(i).Outcome
			m.Times, m.Codes = append(m.Times, o.Samples[0]/1e3), append(m.Codes, 0)
			m.users, m.systems = append(m.users, o.Measured["user"]), append(m.systems, o.Measured["system"])
		}
		m.User, m.System = stats.Mean(m.users), stats.Mean(m.systems)
		m.summarise()
		all = append(all, m)
	}
	rank(all)
	return all, nil, nil
}

// rank compares all commands with the fastest, round by round.
func rank(all []*Measurement) {
	ranking := experiment.Rank(collect.Each(all, func(m *Measurement) [][]float64 {
		return collect.Each(m.Times, func(t float64) []float64 { return []float64{t} })
	}))
	for i, m := range all {
		if i != ranking.Fastest {
			m.Ratio, m.RatioInterval = &ranking.Leads[i].Ratio, &ranking.Leads[i].Interval
		}
	}
}

// program is a command as an arm: each sample is a process.
type program struct {
	repeat Repeat
	line   Line
	fault  *worker.Fault
}

// Renew has nothing to renew.
func (p *program) Renew() {}

func (p *program) String() string { return cmp.Or(p.line.Name, escape.Shell(p.line.Line...)) }

// Sample runs the command once.
func (p *program) Sample(ctx context.Context, _ int) (o objective.Outcome, err error) {
	e, fault, err := p.repeat.once(ctx, p.line)
	if p.fault = fault; fault != nil {
		o.Failure = &objective.Failure{Stage: objective.Bench, Reason: string(fault.Kind), Detail: fault.Explanation()}
		return o, err
	}
	o.Samples = []float64{1e3 * e.Wall.Seconds()}
	o.Measured = map[string]float64{"user": e.User.Seconds(), "system": e.System.Seconds()}
	return o, err
}

// repetition is the rule: rounds that warm up, and then as many as are enough.
type repetition struct {
	Repeat
	commands int
}

// Next counts the rounds after the warm-up, and the time that a command took of them.
func (r repetition) Next(rounds []experiment.Round) (plan experiment.Plan, err error) {
	counted := len(rounds) - r.Warmup
	if counted < 0 {
		return experiment.Plan{Samples: 1}, nil
	}
	spent := time.Duration(0)
	for _, round := range rounds[r.Warmup:] {
		spent += round.Took
	}
	if r.enough(counted, spent/time.Duration(r.commands)) {
		return plan, nil
	}
	return experiment.Plan{Samples: 1, Round: counted}, nil
}

// once prepares and runs a command; one that exits with a status is a fault.
func (r Repeat) once(ctx context.Context, line Line) (e Execution, fault *worker.Fault, err error) {
	for _, l := range []Line{r.Prepare, line} {
		if len(l.Line) == 0 {
			continue
		}
		if e, fault, err = l.Run(ctx); fault == nil && err == nil && e.Status != 0 {
			fault = &worker.Fault{Kind: worker.Exited, Detail: e.Explain()}
		}
		if fault != nil || err != nil {
			break
		}
	}
	return e, fault, err
}

// enough reports whether so many runs, in so much time for a command, will do. Many commands take more rounds for the
// intervals of all of them.
func (r repetition) enough(runs int, spent time.Duration) bool {
	if r.Runs > 0 {
		return runs >= r.Runs
	}
	fewest := max(fewestRuns, experiment.RoundsToRank(r.commands))
	return runs >= mostRuns || runs >= fewest && spent >= enoughTime
}

// summarise computes what the times say.
func (m *Measurement) summarise() {
	m.Median, m.Mean = stats.Median(m.Times), stats.Mean(m.Times)
	m.Interval = stats.MedianInterval(m.Times, 0.95)
	m.Min, m.Max, m.P95 = stats.Quantile(m.Times, 0), stats.Quantile(m.Times, 1), stats.Quantile(m.Times, 0.95)
	m.CV, m.Variation, m.Drift = stats.CV(m.Times), stats.RobustCV(m.Times), stats.Drift(m.Times)
	m.Stddev = m.CV * m.Mean
	m.Outliers = outliers(m.Times)
	m.Warnings = m.warnings()
}

// outlierLimit is the modified z-score beyond which a run is an outlier, by Iglewicz and
// Hoaglin (1993) 3.5; far ones alone are worth a warning.
const outlierLimit = 14.826 // ten times the median absolute deviation

// outliers counts the runs that lie far above the others.
func outliers(times []float64) int {
	median := stats.Median(times)
	deviation := stats.Median(collect.Each(times, func(t float64) float64 { return math.Abs(t - median) }))
	count := 0
	for _, t := range times {
		if deviation > 0 && 1.4826*(t-median)/deviation > outlierLimit {
			count++
		}
	}
	return count
}

// The limits beyond which a measurement has a warning.
const (
	shortRun  = 0.005 // seconds: starting a process is a large part of it
	noisyRuns = 0.12
	coldFirst = 1.3
)

// warnings are what a reader should know before trusting the figures, with what to do that
// was not done yet.
func (m *Measurement) warnings() []string {
	var found []string
	if m.Median < shortRun {
		found = append(found,
			fmt.Sprintf("a run takes under %s: starting a process is part of what is measured", page.Milliseconds(1e3*shortRun)))
	}
	if !m.Interval.Bounded() {
		found = append(found,
			fmt.Sprintf("a 95 %% interval takes at least %d runs (--runs)", stats.FewestForInterval))
	}
	if len(m.Times) > 2 && m.Times[0] > coldFirst*stats.Quantile(m.Times[1:], 0.75) {
		advice := "--warmup 3 runs the command before it counts"
		if m.Warmup > 0 {
			advice = "the warm-up was not enough, or something else ran"
		}
		found = append(found, "the first run took much longer than the others: caches were cold; "+advice)
	}
	if m.Outliers > 0 {
		found = append(found,
			fmt.Sprintf("%s far slower than the others: something else ran on the machine, or the command does not do the "+
				"same each time", page.Count(m.Outliers, "run is", "runs are")))
	}
	if m.CV > noisyRuns {
		found = append(found,
			fmt.Sprintf("times vary by %s (robust CV %s): the machine is noisy", page.WholePercent(m.CV),
				page.RobustCV(page.WholePercent(m.Variation), len(m.Times))))
	}
	if drift := page.Drift(m.Drift, m.Variation); drift != "" && len(m.Times) >= fewestRuns {
		found = append(found, "from the first third of the runs to the last, the command "+drift)
	}
	return found
}

// Text writes the measurement for people.
func (m *Measurement) Text() string {
	var text strings.Builder
	ms := func(seconds float64) string { return page.Milliseconds(1e3 * seconds) }
	interval := stats.Interval{Low: 1e3 * m.Interval.Low, High: 1e3 * m.Interval.High}
	fmt.Fprintf(&text, "%s\n", escape.Line(m.Command))
	fmt.Fprintf(&text, "%s, 95 %% interval: %s, over %s (CV %s, robust CV %s)\n",
		ms(m.Median), page.TimeInterval(interval), page.Count(len(m.Times), "run"), page.Percent(m.CV),
		page.RobustCV(page.Percent(m.Variation), len(m.Times)))
	fmt.Fprintf(&text, "mean %s ± %s, user %s, system %s\n", ms(m.Mean), orNone(ms(m.Stddev)), orNone(ms(m.User)),
		orNone(ms(m.System)))
	fmt.Fprintf(&text, "least %s, p95 %s, most %s, drift %+.1f %%\n", ms(m.Min), ms(m.P95), ms(m.Max), 100*m.Drift)
	if m.Ratio != nil {
		fmt.Fprintf(&text, "takes %.2f× the time of the fastest, 95 %% interval %s\n", *m.Ratio,
			page.RatioInterval(*m.RatioInterval))
	}
	for _, warning := range m.Warnings {
		fmt.Fprintf(&text, "Warning: %s\n", warning)
	}
	return text.String()
}

// orNone writes a time that may be none at all.
func orNone(text string) string {
	if text == page.Unknown {
		return "0 s"
	}
	return text
}
