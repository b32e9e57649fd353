// Package report turns a recorded study into evidence for a reviewer.
//
//  1. Summarise computes every fact once, from the record alone.
//  2. WriteAll renders the same facts as Markdown for people (suggestions.md),
//     as JSON for programs, as one self-contained HTML page, and as a C header
//     with the winner's values.
//  3. A Drawing has the pictures of the search for these pages, and for those that cmd/pawl/pages serves.
//  4. Publish gives each kernel and workload a folder for these, and writes an index
//     of them beside the database.
//
// The tone is that of a careful colleague: what was seen, how sure that is,
// and what to do about it. A difference that may be noise is called so.
package report

import (
	"cmp"
	"fmt"
	"slices"

	"pawl/internal/collect"
	"pawl/internal/stats"
	"pawl/objective"
	"pawl/objective/worker"
	"pawl/search"
	"pawl/search/confirm"
	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// Summary holds the facts of a study. Times are milliseconds, or the values of the
// manifest's objective, or their reciprocals where it is to be large; speedups are ratios,
// above 1 means better than the default.
type Summary struct {
	Study    studies.Study `json:"study"`
	Search   SearchFacts   `json:"search"`
	Advice   Advice        `json:"advice"`
	Default  *Timed        `json:"default,omitempty"`
	Winner   *Timed        `json:"winner,omitempty"`
	Evidence *Evidence     `json:"evidence,omitempty"`
	// Suggestion is what to do; nil where there is nothing to apply.
	Suggestion *Suggestion `json:"suggestion,omitempty"`
	// Sources names a study of other sources that a reader must know of; nil for none.
	Sources *OtherSources `json:"other_sources,omitempty"`
	// Gate is what the gate said about the winner last; nil where nobody asked. Gated is
	// what it said about other points and workloads.
	Gate  *studies.Gating  `json:"gate,omitempty"`
	Gated []studies.Gating `json:"gated,omitempty"`
	// Across is what the winner is worth on other workloads; nil where there is no winner
	// beside the default, or no other workload.
	Across *Across `json:"across,omitempty"`
	// Data says how times depend on what the inputs hold; nil where only the declared data was measured.
	Data *Data `json:"data,omitempty"`
	// Why says what the winner's speed comes from; nil where nothing is known about that.
	Why *Why `json:"why,omitempty"`
	// Top are the finalists, most probably best first; before a confirmation, the best
	// trials, which the default may be one of.
	Top         []Timed              `json:"top,omitempty"`
	Ablation    []Step               `json:"ablation,omitempty"`
	Importances []confirm.Importance `json:"importances,omitempty"`
	Doubts
	// Front are the trials that no other beats in all objectives; nil with one objective.
	Front []FrontPoint `json:"pareto_front,omitempty"`
	// Sizes are the workloads of the kernel that were tuned on this device; nil where its work is unknown.
	Sizes []Sized `json:"sizes,omitempty"`

	trials []trial.Trial // for pictures
}

// Doubts are what went wrong, and what a reader is warned of.
type Doubts struct {
	Failures []FailureGroup `json:"failures,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
	// Suspected says that the reference is more likely to be wrong than all points.
	Suspected bool `json:"reference_suspected,omitempty"`

	initial space.Point // the default
}

// SearchFacts counts what the search did.
type SearchFacts struct {
	Asked     int `json:"asked"`
	OK        int `json:"ok"`
	Failed    int `json:"failed"`
	Abandoned int `json:"abandoned"`
	Same      int `json:"same_machine_code"`
	CacheHits int `json:"cache_hits"`
	// MachineFaults are what had points tried again that could do nothing for it, each with how often it happened.
	MachineFaults map[string]int `json:"machine_faults,omitempty"`
	// Devices are those of a farm, each with how many trials were measured on it.
	Devices map[string]int `json:"devices,omitempty"`
	// ConfirmedOn are those that the rounds were measured on which count: one, or one after
	// the other.
	ConfirmedOn []string `json:"confirmed_on,omitempty"`
	Seconds     float64  `json:"seconds"`
	// Where the time went, in seconds; compiling runs beside the others.
	Compiling float64 `json:"compiling_seconds"`
	Checking  float64 `json:"checking_seconds"`
	Measuring float64 `json:"measuring_seconds"`
}

// Timed is a point with its time.
type Timed struct {
	Point        space.Point    `json:"point"`
	Milliseconds float64        `json:"milliseconds"`
	Interval     stats.Interval `json:"interval"`
	// Measured are the quantities beside an objective, medians over rounds; nil where the
	// time is compared.
	Measured map[string]float64 `json:"measured,omitempty"`
	Samples  int                `json:"samples"`
	Rounds   int                `json:"rounds,omitempty"`
	// CV is the standard deviation of all samples over their mean; Variation is what
	// is left of it without drift, steps and outliers.
	CV        float64 `json:"cv"`
	Variation float64 `json:"variation"`
	// Speedup over the default and its 95 % interval; nil without a confirmed
	// comparison.
	Speedup         *float64        `json:"speedup,omitempty"`
	SpeedupInterval *stats.Interval `json:"speedup_interval,omitempty"`
	// Best is the probability that this is the best of the finalists.
	Best *float64 `json:"probability_best,omitempty"`
	// Gigaflops and Gigabytes are per second, 0 where the manifest gives no
	// formula.
	Gigaflops float64 `json:"gigaflops,omitempty"`
	Gigabytes float64 `json:"gigabytes,omitempty"`
	// Roofline is the share of the best that the device can do, 0 if unknown.
	Roofline float64 `json:"roofline,omitempty"`
	// Resources is what the compiler says that the point needs.
	Resources *objective.Resources `json:"resources,omitempty"`
	// Conditions is the state of the device while it was measured.
	Conditions *worker.Conditions `json:"conditions,omitempty"`
	// Drift is the change inside a round, from its first third to its last, as the
	// median over rounds: positive when it got faster.
	Drift float64 `json:"drift,omitempty"`
	// Checked is what its results were checked on before it was compared: of the
	// default and the winner.
	Checked *Checked `json:"checked,omitempty"`
}

// FailureGroup is a kind of failure with one example.
type FailureGroup struct {
	Stage   objective.Stage `json:"stage"`
	Reason  string          `json:"reason"`
	Count   int             `json:"count"`
	Example space.Point     `json:"example"`
	Detail  string          `json:"detail,omitempty"`
	// Shared is a value that explains the group; nil for none.
	Shared *SharedValue `json:"shared,omitempty"`
}

// SharedValue is a value that all points of a group of failures have, and with which most finished trials are in it.
type SharedValue struct {
	Value string `json:"value"` // such as FAST_EXP=1
	// With and Without count the finished trials with the value and without it; of those with it, Failed are in the
	// group, of the others none is.
	Failed  int `json:"failed"`
	With    int `json:"with"`
	Without int `json:"without"`
}

// String is the value in a few words.
func (v SharedValue) String() string {
	return fmt.Sprintf("%d of %d with %s, 0 of %d without", v.Failed, v.With, v.Value, v.Without)
}

// sharedValue finds the value that all points of a group have and that explains it best: most of those that have it are
// in the group. A single failure, or one of a value that most trials pass with, is not explained by it.
func sharedValue(trials []trial.Trial, in func(trial.Trial) bool) *SharedValue {
	finished := collect.Where(trials, func(t trial.Trial) bool { return t.Finished })
	group := collect.Where(finished, in)
	if len(group) < 2 {
		return nil
	}
	var best *SharedValue
	for _, a := range group[0].Point.Assignments() {
		has := func(t trial.Trial) bool { value, _ := t.Point.Get(a.Name); return value == a.Value }
		if slices.ContainsFunc(group, func(t trial.Trial) bool { return !has(t) }) {
			continue
		}
		with := len(collect.Where(finished, has))
		v := &SharedValue{a.Name + "=" + a.Value.String(), len(group), with, len(finished) - with}
		if 2*v.Failed > v.With && v.Without > 1 && (best == nil || v.With < best.With) {
			best = v
		}
	}
	return best
}

// Summarise computes the facts of a study from its record, and from what the gate said
// about its points.
func Summarise(study studies.Study, past trial.Past, gatings ...studies.Gating) (Summary, error) {
	s, err := study.Space.Open()
	if err != nil {
		return Summary{}, err
	}
	summary := Summary{
		Study:  study,
		trials: past.Trials,
		Search: searchFacts(past),
		Doubts: Doubts{
			Failures:  failureGroups(past.Trials),
			Suspected: search.ReferenceSuspected(past.Trials, true),
			initial:   s.Default(),
		},
	}
	summary.Importances = confirm.Importances(s, sampler.TimedOf(past.Trials))
	rounds := past.Rounds // a run that was replaced has checked what this one compares
	past.Rounds = past.Standing()
	contenders := confirm.Contenders(past.Rounds, trial.Confirmation)
	var probabilities []float64
	if len(contenders) > 0 {
		probabilities = confirm.ProbabilityBest(contenders)
	}
	if winner, found := confirm.WinnerOf(contenders, probabilities); found {
		summary.confirmed(contenders, confirm.LeftBehind(past.Rounds, trial.Confirmation), probabilities, winner)
		summary.Ablation = ablation(past.Rounds, winner)
	} else {
		summary.unconfirmed(past.Trials)
	}
	summary.onData(past.Rounds, rounds)
	summary.describe(past)
	summary.check(rounds)
	summary.Front = front(past.Trials, study.Environment.Objective)
	summary.takeGatings(gatings)
	summary.Advice = withGate(doubted(withData(advise(&summary), &summary), &summary), &summary)
	summary.Suggestion = suggestion(&summary)
	summary.Warnings = warnings(&summary)
	return summary, nil
}

// confirmed fills in what the finalists' rounds say.
func (s *Summary) confirmed(contenders, left []confirm.Contender, probabilities []float64, winner space.Point) {
	base := slices.IndexFunc(contenders, func(c confirm.Contender) bool { return c.Point == s.initial })
	at := slices.IndexFunc(contenders, func(c confirm.Contender) bool { return c.Point == winner })
	probabilities = append(slices.Clone(probabilities), make([]float64, len(left))...) // none left behind is best
	for i, c := range slices.Concat(contenders, left) {
		t := s.timed(c.Point, c.Milliseconds(), slices.Concat(c.Rounds...))
		t.Interval = stats.MedianInterval(c.Medians(), 0.95) // processes differ more than the launches inside one
		t.Rounds, t.Best = len(c.Rounds), &probabilities[i]
		switch {
		case base < 0 || i == base:
		case i == at:
			gain := confirm.GainOf(contenders, base, at, len(left))
			t.Speedup, t.SpeedupInterval = &gain.Speedup, &gain.Interval
			s.Evidence = evidence(contenders[base], c, probabilities[at], gain)
		default:
			first := contenders[base]
			first.Rounds = first.Rounds[:len(c.Rounds)]
			speedup, interval := compare(first, c)
			t.Speedup, t.SpeedupInterval = &speedup, &interval
		}
		if c.Point == winner {
			s.Winner = &t
		}
		if i == base {
			s.Default = &t
		} else {
			s.Top = append(s.Top, t)
		}
	}
	slices.SortStableFunc(s.Top, func(a, b Timed) int {
		return cmp.Or(cmp.Compare(*b.Best, *a.Best), cmp.Compare(a.Milliseconds, b.Milliseconds))
	})
	for i := range s.Top {
		if slices.ContainsFunc(left, func(c confirm.Contender) bool { return c.Short && c.Point == s.Top[i].Point }) {
			s.Top[i].Best = nil // nobody knows
		}
	}
}

// unconfirmed ranks the trials of a study that ended before a confirmation.
func (s *Summary) unconfirmed(trials []trial.Trial) {
	for _, t := range trial.Ranking(trials) {
		timed := s.timed(t.Point, t.Outcome.Milliseconds(), t.Outcome.Samples)
		if t.Point == s.initial {
			s.Default = &timed
		}
		if len(s.Top) < 5 {
			s.Top = append(s.Top, timed)
		}
	}
}

// Named is a point in a table or picture.
type Named struct {
	Name string
	Timed
}

// Rows are the default and then the finalists or best trials, each once.
func (s *Summary) Rows() (rows []Named) {
	if s.Default != nil {
		rows = append(rows, Named{"default", *s.Default})
	}
	number := 0
	for _, t := range s.Top {
		if s.Default == nil || t.Point != s.Default.Point {
			number++
			rows = append(rows, Named{fmt.Sprint(number), t})
		}
	}
	return rows
}

func (s *Summary) timed(point space.Point, milliseconds float64, samples []float64) Timed {
	t := Timed{
		Point: point, Milliseconds: milliseconds, Samples: len(samples),
		Interval: stats.Unbounded(), // of one process
		CV:       stats.CV(samples), Variation: stats.RobustCV(samples),
	}
	s.achieves(&t, s.Study.Work, milliseconds)
	return t
}

// achieves fills in what a point does in its time, and the share of what the device can do.
func (s *Summary) achieves(t *Timed, work studies.Work, milliseconds float64) {
	t.Gigaflops, t.Gigabytes = work.Flops/milliseconds/1e6, work.Bytes/milliseconds/1e6
	if r := s.Study.Roofline; r.Flops > 0 && r.Bytes > 0 {
		t.Roofline = max(1e9*t.Gigaflops/r.Flops, 1e9*t.Gigabytes/r.Bytes)
	}
}

// shown are the points on the page: the default, the winner and the finalists.
func (s *Summary) shown() []*Timed {
	all := []*Timed{s.Default, s.Winner}
	for i := range s.Top {
		all = append(all, &s.Top[i])
	}
	return slices.DeleteFunc(all, func(t *Timed) bool { return t == nil })
}

// driftSamples is how many samples of a round show a drift inside it: two in each third.
const driftSamples = 6

// describe adds to the points on the page what the compiler and the device said
// about them.
func (s *Summary) describe(past trial.Past) {
	for _, t := range s.shown() {
		tried, _ := collect.First(past.Trials, func(o trial.Trial) bool { return o.Point == t.Point })
		rounds := collect.Where(past.Rounds, func(r trial.Round) bool {
			return r.Point == t.Point && r.Phase == trial.Confirmation
		})
		t.Resources, t.Conditions = tried.Outcome.Resources, nil
		var drifts []float64
		for _, r := range rounds {
			t.Conditions = t.Conditions.Join(r.Outcome.Conditions)
			if len(r.Outcome.Samples) >= driftSamples {
				drifts = append(drifts, stats.Drift(r.Outcome.Samples))
			}
		}
		if len(drifts) > 0 {
			t.Drift = stats.Median(drifts)
		}
		s.measured(t, tried, rounds)
	}
}

func searchFacts(past trial.Past) SearchFacts {
	f := SearchFacts{Asked: len(past.Trials), Seconds: past.Elapsed.Seconds()}
	for _, t := range past.Trials {
		switch {
		case !t.Finished:
			f.Abandoned++
		case t.OK():
			f.OK++
		default:
			f.Failed++
		}
		if t.Outcome.SameAs != "" {
			f.Same++
		}
		if t.Outcome.Device != "" {
			if f.Devices == nil {
				f.Devices = map[string]int{}
			}
			f.Devices[t.Outcome.Device]++
		}
		if t.Outcome.Spent.CacheHit {
			f.CacheHits++
		}
		f.Compiling += t.Outcome.Spent.Compile.Seconds()
		f.Checking += t.Outcome.Spent.Check.Seconds()
		f.Measuring += t.Outcome.Spent.Measure.Seconds()
	}
	count := func(o objective.Outcome) {
		for _, fault := range o.MachineFaults {
			if f.MachineFaults == nil {
				f.MachineFaults = map[string]int{}
			}
			f.MachineFaults[fault]++
		}
	}
	for _, t := range past.Trials {
		count(t.Outcome)
	}
	for _, r := range past.Rounds {
		count(r.Outcome)
	}
	devices := collect.Each(past.Standing(), func(r trial.Round) string { return r.Outcome.Device })
	f.ConfirmedOn = collect.Where(collect.Distinct(devices), func(name string) bool { return name != "" })
	return f
}

// failureGroups counts each failed trial once, so that what a page counts adds up.
func failureGroups(trials []trial.Trial) []FailureGroup {
	var groups []FailureGroup
	for _, t := range trials {
		f := t.Outcome.Failure
		if !t.Finished || f == nil {
			continue
		}
		at := slices.IndexFunc(groups, func(g FailureGroup) bool { return g.Stage == f.Stage && g.Reason == f.Reason })
		if at < 0 {
			groups = append(groups, FailureGroup{Stage: f.Stage, Reason: f.Reason, Example: t.Point, Detail: f.Detail})
			at = len(groups) - 1
		}
		groups[at].Count++
	}
	for i, g := range groups {
		groups[i].Shared = sharedValue(trials, func(t trial.Trial) bool {
			f := t.Outcome.Failure
			return f != nil && f.Stage == g.Stage && f.Reason == g.Reason
		})
	}
	slices.SortStableFunc(groups, func(a, b FailureGroup) int { return b.Count - a.Count })
	return groups
}
