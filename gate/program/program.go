// Package program compares all rows of two versions of a program: a benchmark that times hundreds
// of cases and prints them, in any form that [results.Parse] knows.
//
// The process is the unit of evidence, as everywhere in the gate. So the program is run as often as
// there are rounds, and what one of its processes says about a row is one observation of it.
//
//  1. Each side is built, and run once. That says which rows there are, what a round costs, and how
//     many rounds can prove anything about one of so many rows.
//  2. A round runs baseline, candidate and control once each, in permuted orders. The control is
//     the baseline again.
//  3. [gate.CompareRows] judges every row, with one alarm rate for all of them.
//  4. A row that only one side has is named. A row that a side has now and then is undecided.
package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"pawl/gate"
	"pawl/gate/results"
	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/internal/process"
	"pawl/objective"
	"pawl/objective/command"
	"pawl/objective/experiment"
	"pawl/objective/worker"
)

// Output stands for the file that a command writes. Without it, standard output is read.
const Output = "{OUT}"

// Side is how one version of the program is run.
type Side struct {
	// Folder is where; empty means this process's own.
	Folder string
	// Line is the program with its arguments, Build what is run before, once; nil for nothing.
	Line, Build []string
}

// Shell is a line for the shell.
func Shell(text string) []string { return []string{"sh", "-c", text} }

// Options say what is compared.
type Options struct {
	// Name is the program's, for people.
	Name                string
	Baseline, Candidate Side
	// Rows says which rows are compared; nil means all.
	Rows *regexp.Regexp
	// Choice says what is read of what the program writes, where the form leaves that open.
	Choice results.Choice
	// Rounds is how many rounds are measured, if the number of rows does not need more. Zero means DefaultRounds.
	Rounds int
	// Within is the time for all of it. Zero means ten minutes.
	Within time.Duration
	// Seed draws the orders.
	Seed   uint64
	Policy gate.Policy
	// Observe is called after each round; it may be nil.
	Observe func(round, of int)
}

// DefaultRounds is how many rounds are measured where nothing else is said.
const DefaultRounds = 20

// DefaultTime is how long a comparison may take where nothing else is said.
const DefaultTime = 10 * time.Minute

// Row is a row of the program with its verdict.
type Row struct {
	Name string `json:"name"`
	// Baseline and Current are milliseconds, 0 where not measured. They differ by exactly the change.
	Baseline float64 `json:"baseline,omitempty"`
	Current  float64 `json:"current,omitempty"`
	gate.Comparison
}

// Unchanged reports whether there is nothing to say about a row.
func (r Row) Unchanged() bool { return r.Verdict == gate.NoDifference || r.Verdict == gate.Maintained }

// Report is a finished comparison. Verdict and reason are those of the program as a whole, and the first
// sentence of any report.
type Report struct {
	Program string `json:"program"`
	gate.Decision
	Summary gate.Summary `json:"summary"`
	// Rows are in the order of the program's output; those that only the baseline has come last.
	Rows      []Row         `json:"rows"`
	Rounds    int           `json:"rounds"`
	OrderSeed uint64        `json:"order_seed"`
	Took      time.Duration `json:"took_ns"`
	Notes     []string      `json:"notes,omitempty"`
	Policy    gate.Policy   `json:"policy"`
}

// With returns the rows with one of the verdicts, the largest change first.
func (r *Report) With(verdicts ...gate.Verdict) []Row {
	found := collect.Where(r.Rows, func(row Row) bool { return slices.Contains(verdicts, row.Verdict) })
	size := func(row Row) float64 {
		if row.Evidence == nil {
			return 0
		}
		return max(row.Evidence.Change, -row.Evidence.Change)
	}
	slices.SortStableFunc(found, func(a, b Row) int {
		switch {
		case size(a) > size(b):
			return -1
		case size(a) < size(b):
			return 1
		}
		return 0
	})
	return found
}

// run is a comparison under way.
type run struct {
	Options
	began time.Time
	// names are those of all rows, in the order of their first appearance.
	names []string
	// seen are the samples of each row, by arm and round; nil in a round without the row.
	seen   map[string]gate.Samples
	orders [][]gate.Arm
	// done counts the processes of each role that were kept.
	done    map[gate.Arm]int
	planned int       // rounds
	first   time.Time // when the first of them began
	round   time.Duration
}

// failure says that a version of the program does not work.
type failure struct {
	side gate.Arm
	what string
}

func (f *failure) Error() string { return fmt.Sprintf("the %s fails: %s", f.side, f.what) }

// Compare compares two versions. A candidate that does not work is a verdict; an error means that nothing
// was learned, also because the baseline does not work.
func Compare(ctx context.Context, o Options) (*Report, error) {
	if o.Rounds == 0 {
		o.Rounds = DefaultRounds
	}
	if o.Within == 0 {
		o.Within = DefaultTime
	}
	r := &run{Options: o, began: time.Now(), seen: map[string]gate.Samples{}, done: map[gate.Arm]int{}}
	report := &Report{Program: o.Name, OrderSeed: o.Seed, Policy: o.Policy}
	err := r.measure(ctx, report)
	report.Took = time.Since(r.began)
	failed, known := errors.AsType[*failure](err)
	switch {
	case known && failed.side == gate.Candidate:
		report.Decision = gate.Decide(gate.Wrong, "%s", failed.what)
	case err != nil:
		return nil, fmt.Errorf("comparing %s: %w", o.Name, err)
	case report.Verdict == "":
		r.judge(report)
	}
	return report, nil
}

// measure builds both sides and measures the rounds. It sets the report's decision where nothing can be judged.
func (r *run) measure(ctx context.Context, report *Report) error {
	for _, arm := range []gate.Arm{gate.Baseline, gate.Candidate} {
		if side := r.side(arm); len(side.Build) > 0 {
			if err := r.build(ctx, arm, side); err != nil {
				return err
			}
		}
	}
	began := time.Now()
	rows := map[string]int{}
	for _, arm := range []gate.Arm{gate.Baseline, gate.Candidate} {
		series, err := r.once(ctx, arm)
		if err != nil {
			return err
		}
		for _, s := range series {
			rows[s.Name]++
		}
	}
	common := len(collect.Where(r.names, func(name string) bool { return rows[name] == 2 }))
	if common == 0 {
		report.Decision = gate.Decide(gate.Inconclusive, "the two versions have no row in common")
		r.onlyOnOneSide(report)
		return nil
	}
	r.names = nil // what a pilot saw is not judged
	r.round = time.Since(began) * 3 / 2
	fewest := r.Policy.FewestRounds(common)
	if left := r.Within - time.Since(r.began); time.Duration(fewest)*r.round > left {
		report.Decision = gate.Decide(gate.Inconclusive, "%v are too little: %d rounds are the fewest that prove anything "+
			"about one of %s, and a round takes about %s; --budget %v would do", r.Within, fewest, page.Count(common, "row"),
			page.Seconds(r.round.Seconds()), (r.Within - left + time.Duration(fewest+2)*r.round*5/4).Round(time.Second))
		return nil
	}
	r.planned, r.first = max(r.Rounds, fewest), time.Now()
	e := experiment.Experiment{Seed: r.Seed, AllNeeded: true}
	for _, role := range roles {
		e.Arms = append(e.Arms, &arm{r, role})
	}
	measured, err := e.Run(ctx, r)
	if err != nil {
		return err
	}
	for _, round := range measured {
		r.orders = append(r.orders, collect.Each(round.Order(), func(i int) gate.Arm { return roles[i] }))
	}
	report.Rounds = len(measured)
	if len(measured) < r.planned {
		report.Notes = append(report.Notes, fmt.Sprintf("the time was over after %d of %d rounds", len(measured), r.planned))
	}
	return nil
}

// roles are those of the arms.
var roles = []gate.Arm{gate.Baseline, gate.Candidate, gate.Control}

// Next goes on until the rounds are done, or another one would be too late: the clock decides, and no time of a row.
func (r *run) Next(rounds []experiment.Round) (experiment.Plan, error) {
	done := len(rounds)
	if done > 0 {
		r.round = time.Since(r.first) / time.Duration(done)
		if r.Observe != nil {
			r.Observe(done, r.planned)
		}
	}
	if done >= r.planned || done > 0 && time.Since(r.began)+r.round > r.Within {
		return experiment.Plan{}, nil
	}
	return experiment.Plan{Samples: 1, Round: done}, nil
}

// arm is a version of the program in its role.
type arm struct {
	run  *run
	role gate.Arm
}

var _ experiment.Arm = (*arm)(nil)

// Renew does nothing: every process is a new one.
func (a *arm) Renew() {}

// Sample runs a process and keeps what it says about every row. A version that does not work is a *failure.
func (a *arm) Sample(ctx context.Context, _ int) (outcome objective.Outcome, err error) {
	began := time.Now()
	series, err := a.run.once(ctx, a.role)
	if err != nil {
		return outcome, err
	}
	outcome.Samples = []float64{1e3 * time.Since(began).Seconds()}
	for _, s := range series {
		a.run.keep(a.role, a.run.done[a.role], s)
	}
	a.run.done[a.role]++
	return outcome, nil
}

func (a *arm) String() string { return "the " + string(a.role) }

// keep notes what a process said about a row in a round.
func (r *run) keep(arm gate.Arm, round int, s results.Series) {
	samples := r.seen[s.Name]
	if samples == nil {
		samples = gate.Samples{}
		r.seen[s.Name] = samples
	}
	for len(samples[arm]) <= round {
		samples[arm] = append(samples[arm], nil)
	}
	samples[arm][round] = slices.Concat(append(s.Processes, samples[arm][round])...)
}

func (r *run) side(role gate.Arm) Side {
	if role == gate.Candidate {
		return r.Candidate
	}
	return r.Baseline
}

func (r *run) build(ctx context.Context, arm gate.Arm, side Side) error {
	_, err := r.execute(ctx, arm, side.Folder, side.Build)
	if failed, ok := errors.AsType[*failure](err); ok {
		failed.what = "its build: " + failed.what
	}
	return err
}

// execute runs a line to its end, and returns what it printed.
func (r *run) execute(ctx context.Context, arm gate.Arm, folder string, line []string) (command.Execution, error) {
	e, fault, err := command.Line{Command: process.Command{Line: line, Dir: folder, Allowed: r.Within}}.Run(ctx)
	if err == nil && fault == nil && e.Status != 0 {
		fault = &worker.Fault{Kind: worker.Exited, Detail: e.Explain()}
	}
	if err == nil && fault != nil {
		err = &failure{arm, escape.Line(fault.Error())}
	}
	return e, err
}

// once runs an arm and returns its rows.
func (r *run) once(ctx context.Context, arm gate.Arm) (rows []results.Series, err error) {
	side := r.side(arm)
	folder, err := os.MkdirTemp("", "pawl-rows-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	file := filepath.Join(folder, "out")
	writes := false
	line := collect.Each(side.Line, func(word string) string {
		writes = writes || strings.Contains(word, Output)
		return strings.ReplaceAll(word, Output, file)
	})
	e, err := r.execute(ctx, arm, side.Folder, line)
	if err != nil {
		return nil, err
	}
	var series []results.Series
	switch {
	case writes:
		series, err = results.Read(file, r.Choice)
		if errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("it did not write %s", Output)
		}
	case e.Cut:
		err = fmt.Errorf("it printed more than is kept: let it write a file, with %s in its command", Output)
	default:
		series, err = results.Parse("", e.Stdout, r.Choice)
	}
	if err != nil {
		text := strings.ReplaceAll(err.Error(), file, Output)
		return nil, &failure{arm, "what it wrote cannot be read: " + escape.Line(text)}
	}
	for _, s := range series {
		if r.Rows != nil && !r.Rows.MatchString(s.Name) {
			continue
		}
		if !slices.Contains(r.names, s.Name) {
			r.names = append(r.names, s.Name)
		}
		rows = append(rows, s)
	}
	if len(rows) == 0 {
		return nil, &failure{arm, fmt.Sprintf("none of its %s matches %s", page.Count(len(series), "row"), r.Rows)}
	}
	return rows, nil
}

// onlyOnOneSide reports rows that were seen without rounds.
func (r *run) onlyOnOneSide(report *Report) {
	for _, name := range r.names {
		report.Rows = append(report.Rows, Row{Name: name, Comparison: gate.Comparison{
			Decision: gate.Decide(gate.Inconclusive, "only one of the two versions has it"),
		}})
	}
}

// present counts the rounds in which an arm had a row.
func present(processes [][]float64) int {
	return len(collect.Where(processes, func(p []float64) bool { return len(p) > 0 }))
}

// judge judges every row, and the program by its rows.
func (r *run) judge(report *Report) {
	var complete []gate.Samples
	var names []string
	other := map[string]gate.Decision{}
	rounds := len(r.orders)
	for _, name := range r.names {
		samples := r.seen[name]
		base, candidate := present(samples[gate.Baseline])+present(samples[gate.Control]), present(samples[gate.Candidate])
		switch {
		case base == 2*rounds && candidate == rounds:
			complete, names = append(complete, samples), append(names, name)
		case base == 0 && candidate == rounds:
			other[name] = gate.Decide(gate.New, "the baseline does not have it")
		case candidate == 0 && base == 2*rounds:
			other[name] = gate.Decide(gate.Vanished, "the baseline has it, and the candidate does not")
		default:
			other[name] = gate.Decide(gate.Inconclusive, "it is there in %d of %d processes of the baseline and %d of %d of "+
				"the candidate", base, 2*rounds, candidate, rounds)
		}
	}
	var compared []gate.Comparison
	compared, report.Summary = gate.CompareRows(complete, r.orders, r.Policy)
	fewest := r.Policy.FewestRounds(len(complete))
	for _, name := range r.names {
		row := Row{Name: name}
		if at := slices.Index(names, name); at >= 0 {
			row.Comparison = compared[at]
			row.Baseline, row.Current = row.Evidence.Times()
			if rounds < fewest && !row.Verdict.Undecided() {
				row.Decision = gate.Decide(gate.Inconclusive, "%d rounds prove nothing about one of %d rows: %d would", rounds,
					len(names), fewest)
			}
		} else {
			row.Decision = other[name]
		}
		report.Rows = append(report.Rows, row)
	}
	report.Decision = r.decide(report)
}

// decide says what the rows mean for the program.
func (r *run) decide(report *Report) gate.Decision {
	for _, verdict := range []gate.Verdict{gate.Regression, gate.Vanished, gate.Improvement} {
		rows := report.With(verdict)
		if len(rows) == 0 {
			continue
		}
		reason := rows[0].Name + " " + rows[0].Reason
		if len(rows) > 1 {
			reason += fmt.Sprintf(", and %s more", page.Count(len(rows)-1, "row"))
		}
		return gate.Decision{Verdict: verdict, Reason: reason}
	}
	undecided := report.With(gate.Inconclusive)
	switch appeared := report.With(gate.New); {
	case len(undecided) > 0:
		return gate.Decide(gate.Inconclusive, "%d of %s could not be decided; the first is %s: %s", len(undecided),
			page.Count(len(report.Rows), "row"), undecided[0].Name, undecided[0].Reason)
	case len(appeared) > 0:
		return gate.Decide(gate.New, "%s new, the first is %s", page.Count(len(appeared), "row is", "rows are"),
			appeared[0].Name)
	case report.Summary.Slower+report.Summary.Faster > 0:
		return gate.Decide(gate.Maintained, "all differences are within the limits")
	}
	return gate.Decide(gate.NoDifference, "no row is proven to differ")
}
