// Package ratchet runs a policy against baselines. It decides when a baseline moves;
// a program that uses it only parses, prints and exits.
//
// A run goes in these steps, for one configuration (kernel, workload and point)
// after the other:
//
//  1. The baseline is read. Where a base commit is named, its baseline, its files and its policy are:
//     a branch under test has no say in what it is compared with, and no run with a base moves a baseline.
//  2. The candidate is opened and checked in full, by the base's rules too. A wrong one is not measured.
//  3. What the base has in its place is built, or else its baseline is rebuilt from its own sources
//     ([devices.Builder]), and both are measured in rounds. Where it cannot be rebuilt, its stored
//     samples stand in; where there is none, the candidate is measured alone and is new. What is
//     inconclusive is compared once more with the time that is left.
//  4. The result is added to the report and to the history, and both are saved, so
//     that an error in a later configuration loses nothing.
//     Where a policy is sharded, a last run takes the results of the others instead of steps 2 and 3.
//  5. After the last one, or after an error, new configurations become the baseline and gains that
//     a second build has shown move it, if nothing in the run failed.
//
// Beside the run stand its instruments: [Acceptance] moves a baseline by a person's
// decision, [SelfTest] counts the verdicts on slowdowns of known size, and [CompareFiles]
// judges results that exist already.
package ratchet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/policy"
	"pawl/gate/reporting"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/devices"
)

// CurrentName is the file beside the baseline with what the last run measured.
const CurrentName = "current.json"

// Setting says where a gate measures, and what it compares with.
type Setting struct {
	// On is the device that compiles and measures.
	On Device
	// Baseline is the file that performance is compared with; reports go beside it.
	Baseline string
	// Base is the commit that a change is compared with, by any name that git knows; the file of
	// the working tree is then neither used nor moved. Empty means that file.
	Base string
	// Seed draws the orders of measurements.
	Seed uint64
	// LockClocks takes the place of the policy's; 0 does not.
	LockClocks int
	// Observe gets the rounds of a comparison under way; it may be nil.
	Observe func(kernel, workload string, round, ceiling int)
}

// Options says what to run.
type Options struct {
	Setting
	// Policy names the configurations and their limits.
	Policy *policy.File
	// PolicyFile is where the policy comes from. With a base, the limits of the same file there
	// count for what it gates, so that a branch cannot loosen its own.
	PolicyFile string
	// Only says what of it the command line asks for.
	Only Only
	// Shard is the part of the policy to compare, from 1 on, where it has several: another run joins their results, and
	// this one moves nothing. 0 is all of it.
	Shard int
	// Join is the folder with the results of all shards, which take the place of measuring; empty measures.
	Join string
	// Within is the time for the whole run, which its comparisons share; what is left of it is for a second comparison
	// of what was inconclusive. 0 means the policy's budget for each, and twice that for the second.
	Within time.Duration
	// Backend is where kernels run whose policy names none.
	Backend string
	// DryRun compares and reports, and leaves the baseline and the history alone.
	DryRun bool
	// Strict makes what is undecided fail.
	Strict bool
	// Again returns the command that repeats a configuration: the words, and what else was on the command line.
	Again func(words ...any) string
	// Exit returns the code that the program exits with for a report; it is kept in
	// the report.
	Exit func(*reporting.Report) int
	// Cost returns what a machine that was woken for the run has taken by now; nil where
	// none was.
	Cost func(now time.Time) *reporting.Cost
	// Observer may be nil.
	Observer Observer
}

// Observer is told how a gate gets on.
type Observer interface {
	// Finished gets each result as soon as it is saved.
	Finished(reporting.Result)
	// Warn gets what a person must know about the whole run.
	Warn(sentence string)
}

type run struct {
	Options
	*devices.Builder
	file    *baseline.File // as it was at the beginning
	base    *baseCommit    // nil without one
	planned []planned
	// began is when; budget is that of the next comparison, 0 for the policy's and negative where no time is left.
	// attempt counts the comparisons of a configuration.
	began   time.Time
	budget  time.Duration
	attempt int
	// current are the candidates as measured in this run.
	current *baseline.File
	report  reporting.Report
	// moving are the entries that become the baseline if nothing fails.
	moving  []baseline.Entry
	lost    []baseline.Key // provisional gains that were not held
	written []string
}

// Run holds every configuration of the policy to its baseline. It returns the report
// and the files that it is written to. With an error, the report has the results
// before it. A context that ends leaves the baseline as it was.
func Run(ctx context.Context, b *devices.Builder, o Options) (r *reporting.Report, written []string, err error) {
	if jobs := o.Policy.Jobs(); o.Shard > jobs {
		return nil, nil, devices.Argumentf("there is no shard %d of %d", o.Shard, jobs)
	} else if jobs == 1 {
		o.Shard = 0
	}
	g := &run{
		Options: o, Builder: b, began: time.Now(), current: baseline.New(), report: reporting.Report{Strict: o.Strict},
	}
	if err := g.open(ctx); err != nil {
		return nil, nil, err
	}
	if o.Base != "" {
		defer func() { err = errors.Join(err, g.base.close()) }()
		if err := g.openBase(ctx); err != nil {
			return nil, nil, err
		}
	}
	g.planned = g.plan(ctx)
	if o.Shard > 0 {
		g.planned = deal(g.planned, o.Shard, o.Policy.Jobs())
	}
	g.report.Planned = len(g.planned)
	if o.Join != "" {
		err = g.join()
	} else {
		if err = g.kernels(ctx); err == nil {
			err = g.programs(ctx)
		}
	}
	if ctx.Err() == nil && len(g.report.Results) > 0 {
		err = errors.Join(err, g.conclude())
	}
	return &g.report, g.written, err
}

// open reads the baseline: the base's where there is one.
func (r *run) open(ctx context.Context) (err error) {
	if r.Base == "" {
		r.file, err = baseline.Read(r.Baseline)
		return err
	}
	var text []byte
	if r.file, text, r.report.Base, err = readBase(ctx, r.Baseline, r.Base); err != nil {
		return err
	}
	if content, err := os.ReadFile(r.Baseline); !bytes.Equal(content, text) || err != nil && text != nil {
		r.warn(fmt.Sprintf("this branch's %s is not that of %s; it was not used", r.Baseline, r.Base))
	}
	return nil
}

// warn puts a sentence about the whole run into the report; empty is none.
func (r *run) warn(sentence string) {
	if sentence == "" || slices.Contains(r.report.Warnings, sentence) {
		return
	}
	r.report.Warnings = append(r.report.Warnings, sentence)
	if r.Observer != nil {
		r.Observer.Warn(sentence)
	}
}

func (r *run) kernels(ctx context.Context) error {
	for _, p := range r.planned {
		r.budget, r.attempt = r.share(p), 0
		o, err := r.configuration(ctx, p)
		if err != nil {
			return err
		}
		if err := r.add(o); err != nil {
			return err
		}
	}
	return nil
}

// spare is the part of a run's time that is kept for what no comparison counts: compilers, checks and the report.
const spare = 0.1

// share is the budget of a comparison where the run's time is limited: an equal share of what is left, of which a first
// comparison may take a half, because a gain is measured twice and the last round may end late. What is unchanged
// leaves its share to the others. 0 is the policy's own, and negative that no time is left.
func (r *run) share(p planned) time.Duration {
	if r.Within == 0 {
		return 0
	}
	left := time.Duration((1-spare)*float64(r.Within)) - time.Since(r.began)
	if left <= 0 {
		return -1
	}
	return min(left/time.Duration(2*max(1, r.report.Planned-len(r.report.Results))), p.Policy.Budget)
}

func (r *run) configuration(ctx context.Context, p planned) (outcome, error) {
	began := time.Now()
	if p.refused != nil {
		p.refused.key.Device = r.report.Device
		result := reporting.Result{Key: p.refused.key}
		result.Decision = p.refused.decision
		return outcome{result: result}, nil
	}
	k, err := r.On.Load(ctx, p.Name, cmp.Or(p.Backend, r.Backend))
	if err != nil && r.base != nil && ctx.Err() == nil && !errors.As(err, new(*devices.AbsentError)) {
		return r.unreadable(p, err), nil
	}
	if err != nil {
		return outcome{}, err
	}
	c, err := r.On.Open(ctx, k, strings.Join(p.Workloads, ""), p.At)
	if err != nil {
		return outcome{}, err
	}
	defer c.Close()
	defer r.Machine.LockClocks(ctx, k, cmp.Or(r.LockClocks, p.Policy.LockClocks), nil)()
	// The candidate's, whatever comes of it; an embedded kernel has none.
	r.report.Commit = cmp.Or(c.Backend.Facts().Environment.Commit, r.report.Commit)
	o, err := r.compare(ctx, c, p)
	if err == nil && o.result.Verdict == gate.Inconclusive {
		o, err = r.again(ctx, c, p, o)
	}
	if err != nil {
		return o, fmt.Errorf("gating %s: %w", p.Name, err)
	}
	r.accepted(&o.result)
	if mean := o.result.Mean; mean != nil && mean.Slower && !o.result.Verdict.Fails() {
		r.warn(fmt.Sprintf("%s: the mean is slower by %s, although a typical launch is not; see its notes",
			o.result.Config(), page.Percent(-mean.Change)))
	}
	o.result.Seconds = time.Since(began).Seconds()
	o.result.Command = r.command(k.Origin, c.Workload.Name, p.At)
	return o, nil
}

// unreadable is the result of a kernel whose files in the branch are none.
func (r *run) unreadable(p planned, err error) (o outcome) {
	o.result.Key = baseline.Key{
		Device: r.report.Device, Kernel: filepath.Base(filepath.Clean(p.Name)), Workload: strings.Join(p.Workloads, ""),
	}
	if p.old != nil && p.old.kernel != nil {
		o.result.Kernel, o.result.Type = p.old.kernel.Name, typeOf(p.old.kernel)
	}
	o.result.Policy, o.result.Stage = p.Policy, objective.Preflight
	o.result.Decision = gate.Decide(gate.Wrong, "%s", errorLine(err))
	return o
}

// again compares once more what was inconclusive, with other orders and the time that is left for it.
func (r *run) again(ctx context.Context, c *devices.Configuration, p planned, first outcome) (outcome, error) {
	if r.budget < 0 {
		return first, nil
	}
	if r.budget = 2 * first.result.Policy.Budget; r.Within > 0 {
		// An equal share of what is left; half of it, because a gain is measured twice.
		left := max(0, time.Duration((1-spare)*float64(r.Within))-time.Since(r.began))
		r.budget = left / time.Duration(2*max(1, r.report.Planned-len(r.report.Results)))
	}
	if r.budget < first.result.Policy.Budget/2 {
		first.result.Notes = append(first.result.Notes, "no time was left for a second comparison")
		return first, nil
	}
	r.attempt++
	second, err := r.compare(ctx, c, p)
	second.result.Notes = append(second.result.Notes,
		fmt.Sprintf("the second comparison, in up to %v; the first was inconclusive: %s", r.budget.Round(time.Millisecond),
			first.result.Reason))
	return second, err
}

// command repeats one configuration.
func (r *run) command(kernel, workload, at string) string {
	words := []any{"gate", kernel, "--workload", workload}
	if at != "" {
		words = append(words, "--at", at)
	}
	if r.Base != "" {
		words = append(words, "--base", cmp.Or(r.report.Base, r.Base))
	}
	return r.Again(words...)
}

// add takes a finished configuration into the report and saves what there is.
func (r *run) add(o outcome) error {
	r.report.Device = cmp.Or(o.result.Device, r.report.Device)
	if o.entry.Median > 0 {
		r.current.Put(o.entry)
	}
	if r.mayMove(o.result) {
		r.moving = append(r.moving, o.entry)
	}
	if o.result.Lost && !r.DryRun && r.Base == "" {
		r.lost = append(r.lost, o.result.Key)
	}
	r.report.Results = append(r.report.Results, o.result)
	// The same machine code says nothing that the history does not have.
	if same := o.result.Verdict == gate.Maintained && o.result.Evidence == nil; !r.DryRun && r.Shard == 0 && !same {
		if err := baseline.AppendHistory(baseline.HistoryPath(r.Baseline), []baseline.Event{r.event(o)}); err != nil {
			return err
		}
	}
	if !r.report.Finished() {
		if err := r.save(); err != nil {
			return err
		}
	}
	if r.Observer != nil {
		r.Observer.Finished(o.result)
	}
	return nil
}

// event is the line of the history about a configuration.
func (r *run) event(o outcome) baseline.Event {
	e := baseline.Event{
		Time: time.Now().UTC(), Key: o.result.Key, Commit: r.report.Commit, Point: o.result.Point,
		Verdict: o.result.Verdict, Reason: o.result.Reason,
	}
	if o.entry.Median > 0 && (o.result.Evidence != nil || o.result.Verdict == gate.New) {
		e.Median, e.Interval = o.entry.Median, o.entry.Interval
	}
	if o.result.Evidence != nil {
		e.Change = &o.result.Evidence.Change
	}
	return e
}

// conclude moves the baseline and then writes the report that says so.
func (r *run) conclude() error {
	if err := r.moveBaseline(); err != nil {
		return err
	}
	return r.save()
}

// save writes the reports and the results that a person may accept.
func (r *run) save() (err error) {
	r.report.Time = time.Now().UTC()
	r.report.Exit = r.Exit(&r.report)
	if r.Cost != nil {
		r.report.Cost = r.Cost(r.report.Time)
	}
	folder := filepath.Dir(r.Baseline)
	if err := r.current.WriteResults(filepath.Join(folder, CurrentName)); err != nil {
		return err
	}
	r.written, err = reporting.WriteAll(folder, &r.report)
	return err
}
