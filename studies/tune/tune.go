// Package tune runs a study from what was asked for to what is recorded.
//
//  1. Open what is tuned: a kernel on a device of this machine, or a recorded space.
//  2. Choose the study: a new one, or the one to resume, whose own options then hold.
//  3. Begin with what earlier studies of the same kernel found good, and let the
//     model learn from them.
//  4. Search, with every trial recorded before the next.
//  5. Where it is asked for, let a profiler look at the default and the winner, and measure the
//     winner on the kernel's other workloads.
//
// It prints nothing: callbacks say what happens. studies/report says what came of it.
package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/search"
	"pawl/search/confirm"
	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/farm/ask"
	"pawl/studies/report"
)

// Options say what is tuned and how, and who hears of it.
type Options struct {
	// Study is what was asked for; Given are the names of the options that were
	// asked for explicitly, which alone can contradict a study that is resumed.
	Study studies.Options
	Given []string
	// Kernel is the name of an embedded kernel or a folder. Empty means attention. With backend ask it is the
	// file of a space.
	Kernel string
	// Loop asks a session and tells it, with backend ask, until somebody has had enough.
	Loop func(ctx context.Context, session *search.Session, store *studies.Store, study studies.Study) error
	// Resume goes on with the newest study of the same kernel, workload and sources.
	Resume bool
	// Lanes is how many compilers run at once. Zero means one per core.
	Lanes int
	// OrderSeed draws the orders in which finalists are measured. Zero means that of the study: a
	// record has no order.
	OrderSeed uint64
	// Place is where the studies are as the user names it, Database their file or URL.
	Place    studies.Place
	Database string
	// Tools are this machine's; the study chooses the compiler.
	Tools devices.Tools
	// Farm asks the machines of a farm; nil means this machine.
	Farm *Farm
	// Version is this program's, for the record.
	Version string
	// Observer hears of the run.
	Observer Observer
	// Profile lets a profiler look at the default and the winner when both are confirmed. Its reports are in the place's
	// folder.
	Profile bool
	// BenchTime is how long one benchmark of the search may take on this machine; zero means the usual. Tests
	// shorten it: what they measure differs by many times.
	BenchTime time.Duration
	// Stop ends the search early when it is closed: what runs is finished.
	Stop <-chan struct{}
}

// Observer is told how a run gets on, by one goroutine at a time.
type Observer interface {
	// Begin is called once the study is chosen and locked.
	Begin(study studies.Study, past trial.Past, pool *space.Pool)
	// Observe is called after every change of the search.
	Observe(search.Progress)
	// End is called when the search has ended, however it did.
	End()
	// Profiling is called before a profiler looks at a point.
	Profiling(space.Point)
	// Across is called before the winner is measured on another workload.
	Across(workload studies.WorkloadFacts)
}

// Unobserved is an Observer that does nothing.
type Unobserved struct{}

func (Unobserved) Begin(studies.Study, trial.Past, *space.Pool) {}
func (Unobserved) Observe(search.Progress)                      {}
func (Unobserved) End()                                         {}
func (Unobserved) Profiling(space.Point)                        {}
func (Unobserved) Across(studies.WorkloadFacts)                 {}

// Run tunes. It returns what came of the study, also where it was stopped.
func Run(ctx context.Context, o Options) (*report.Summary, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	begun := time.Now()
	s, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &run{Options: o, subject: s, begun: begun}
	defer func() { r.close() }()
	r.warn()
	if r.store, err = studies.Open(ctx, o.Database); err != nil {
		return nil, err
	}
	defer r.store.Close()
	r.store.Place = o.Place
	r.store.Hear(o.Tools.Notice)
	for _, notice := range r.store.Notices {
		o.Tools.Notice(notice)
	}
	study, past, unlock, err := r.choose(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	finished, err := r.search(ctx, study, past)
	if err != nil {
		return nil, err
	}
	if err := r.profile(ctx, study); err != nil {
		return nil, explain(err, study, finished)
	}
	if err := r.across(ctx, study); err != nil {
		return nil, explain(err, study, finished)
	}
	return report.Read(context.WithoutCancel(ctx), r.store, study.ID)
}

// search runs the search of a study and records how it ended. It returns the number of finished trials.
func (r *run) search(ctx context.Context, study studies.Study, past trial.Past) (finished int, err error) {
	earlier, err := r.earlier(ctx, study)
	if err != nil {
		return 0, err
	}
	memories, followed := r.memories(study, earlier)
	if text := remembrance(study, followed); text != "" && len(past.Trials) == 0 {
		r.Tools.Notice(text)
	}
	r.Observer.Begin(study, past, r.pool)
	goals := r.limited()
	if goals.Budget > 0 && past.Elapsed >= goals.Budget {
		r.Tools.Notice(fmt.Sprintf("nothing is left to spend: study %d has used %v, and --budget %v is for all of its runs "+
			"together", study.ID, past.Elapsed.Round(time.Second), goals.Budget))
	}
	if r.elsewhere(study) {
		goals.Budget -= time.Duration(acrossShare * float64(goals.Budget))
	}
	if goals.Budget > 0 { // of which opening the kernel has used some, unless it was opened before
		goals.Budget = max(goals.Budget-time.Since(r.begun), goals.Budget/2)
	}
	options := r.how
	options.Goals, options.Sampler, options.Seed = goals, study.Sampler, study.Seed
	options.OrderSeed = r.OrderSeed
	options.First, options.Earlier = slices.Concat(r.start, study.First), memories
	options.Lanes, options.Stop, options.Observe = cmp.Or(r.how.Lanes, r.Lanes), r.Stop, r.Observer.Observe
	result, err := r.searchOn(ctx, study, past, options)
	r.Observer.End()
	if finishErr := r.store.Finish(context.WithoutCancel(ctx), study.ID, result.Conclusion); finishErr != nil {
		err = errors.Join(err, finishErr)
	}
	finished = len(collect.Where(result.Trials, func(t trial.Trial) bool { return t.Finished }))
	if err != nil {
		return finished, explain(err, study, finished)
	}
	return finished, nil
}

// searchOn searches, and confirms on another device where that of a farm has left.
func (r *run) searchOn(ctx context.Context, study studies.Study, past trial.Past,
	options search.Options) (result trial.Past, err error) {
	result = past
	recorded, err := r.store.Study(ctx, study.ID)
	if err != nil {
		return result, err
	}
	recorder := search.Recorder(r.store.Recorder(study.ID))
	if r.farm != nil {
		if recorder, err = r.farm.begin(ctx, recorded, past, recorder); err != nil {
			return result, err
		}
	}
	if r.Loop != nil {
		session, err := search.NewSession(r.pool, recorder, past, options)
		if err != nil {
			return result, err
		}
		err = r.Loop(ctx, session, r.store, recorded)
		return session.Close(), err
	}
	for {
		result, err = search.Run(ctx, r.pool, r.evaluator, recorder, past, options)
		var gone *ask.GoneError
		if !errors.As(err, &gone) || r.stopped() {
			break
		}
		r.Tools.Notice("the finalists are measured again on another device: " + gone.Device + " has left the farm")
		past = result
	}
	if r.farm == nil {
		return result, err
	}
	if ended := r.farm.end(context.WithoutCancel(ctx), err == nil && !r.stopped()); ended != nil {
		r.Tools.Notice(ended.Error())
	}
	return result, err
}

// run is a study under way. Its options and its subject are the study's own once it
// is chosen.
type run struct {
	Options
	*subject
	store *studies.Store
	begun time.Time
}

// limited returns the goals, with the default budget where there is no limit. Whoever measures themselves end when
// they like.
func (o Options) limited() trial.Goals {
	goals := o.Study.Goals
	if goals.Trials == 0 && goals.Budget == 0 && o.Loop == nil {
		goals.Budget = search.DefaultBudget
	}
	return goals
}

// explain adds to an error what the user can do about it.
func explain(err error, study studies.Study, finished int) error {
	if errors.As(err, new(*search.NothingCompilesError)) {
		return fmt.Errorf("%w\nThe search was ended to save your time. Fix the source or the flags in the manifest "+
			"(flags: %s), or try another compiler with CC", err, study.Environment.Flags)
	}
	if errors.As(err, new(*search.DefaultUnmetError)) {
		return fmt.Errorf("%w\nEverything is compared with the default. Give the manifest a default that meets it, or "+
			"change the requirement; %s tries it", err, escape.Shell("pawl", "check", study.Origin))
	}
	if finished == 0 {
		return err
	}
	saved := page.Count(finished, "finished trial is saved", "finished trials are saved")
	if errors.As(err, new(*objective.SourcesChangedError)) {
		return fmt.Errorf("%w\n%s as study %d: put the sources back, and %s continues; with the sources as they are, it "+
			"begins a new study", err, saved, study.ID, study.Resume())
	}
	if errors.As(err, new(*confirm.OtherCodeError)) {
		return fmt.Errorf("%w\n%s as study %d", err, saved, study.ID)
	}
	return fmt.Errorf("%w\n%s as study %d; %s continues", err, saved, study.ID, study.Resume())
}

// check finds what is wrong with what was asked for. Errors name the flags of pawl
// tune, and are *devices.ArgumentError.
func (o Options) check() error {
	s := o.Study
	switch {
	case s.Record != "" && s.Backend != Replay:
		return devices.Argumentf("--record FILE is what --backend replay answers from")
	case s.Record != "" && o.Kernel != "":
		return devices.Argumentf("a record names its kernel itself; %q is one too many", o.Kernel)
	case s.Across && s.Backend == Replay:
		return devices.Argumentf("--across measures on other workloads, and a record has one")
	case s.Rounds < confirm.FewestRounds:
		return devices.Argumentf("--rounds %d cannot confirm anything: at least %d are needed, and %d for a 95 %% interval",
			s.Rounds, confirm.FewestRounds, stats.FewestForInterval)
	case !slices.Contains(sampler.Names(), s.Sampler):
		known := sampler.Names()
		return &devices.ArgumentError{
			Err:   fmt.Errorf("no sampler %q; there are %s", s.Sampler, strings.Join(known, ", ")),
			Name:  s.Sampler,
			Known: known,
		}
	}
	return nil
}

// DefaultKernel is tuned when none is named.
const DefaultKernel = "attention"
