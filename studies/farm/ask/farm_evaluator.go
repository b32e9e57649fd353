package ask

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/check"
	"pawl/objective/devices"
	"pawl/search"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/farm"
)

// Evaluator answers a search from a farm.
type Evaluator struct {
	farm    *farm.Farm
	chosen  Chosen
	subject farm.Subject
	files   [][]byte // the subject's blobs
	// session tells the questions of this process from those of others that asked for the same study.
	session string
	search  *farm.Search
	// compile and measure are the queues of compilations, and of measurements on any device of the kind.
	compile, measure string
	stopWatching     func()
	// priority is that of everything that is asked; 0 is a search's.
	priority int

	compiled sync.Map                         // *farm.Compiled by point: what works
	numbers  sync.Map                         // of trials, by point
	own      atomic.Pointer[devices.Measures] // where finalists are measured
	fresh    atomic.Int64                     // changes when samples are to come from fresh processes
	mu       sync.Mutex
	asked    map[string]int                  // how often, by task
	evidence map[space.Point]*check.Evidence // until a sample carries it away
}

var (
	_ search.Evaluator = (*Evaluator)(nil)
	_ search.Resident  = (*Evaluator)(nil)
)

// New returns the evaluator of a subject whose blobs are files. Begin it before anything is asked.
func New(f *farm.Farm, chosen Chosen, subject farm.Subject, files ...[]byte) *Evaluator {
	e := &Evaluator{
		farm: f, chosen: chosen, subject: subject, files: files, session: rand.Text(), compile: farm.ReplayQueue,
		measure: farm.ReplayQueue,
		asked:   map[string]int{}, evidence: map[space.Point]*check.Evidence{},
	}
	if chosen.Measures != nil {
		e.compile, e.measure = farm.CompileQueue(*chosen.Compiles), farm.MeasureQueue(*chosen.Measures)
	}
	return e
}

// NewKernel returns the evaluator of a kernel's workload. How says with what it is compiled and
// how it is measured; backend and workload follow from the kernel.
func NewKernel(f *farm.Farm, chosen Chosen, t devices.Target, how studies.Definition) (*Evaluator, error) {
	packed, err := farm.Pack(t.Kernel)
	if err != nil {
		return nil, err
	}
	how.Backend, how.Workload = t.Kernel.Backend, t.Workload.Name
	return New(f, chosen, farm.Subject{
		Kernel: cache.Digest(packed), Name: t.Kernel.Name, Architecture: chosen.Measures.Architecture, Definition: how,
	}, packed), nil
}

// Begin names the study. Notice hears when nobody is there to answer. End it when nothing more is asked.
func (e *Evaluator) Begin(ctx context.Context, head farm.Head, notice func(string)) (err error) {
	if err := e.upload(ctx); err != nil {
		return err
	}
	head.Priority = cmp.Or(head.Priority, e.priority)
	if e.search, err = e.farm.Begin(ctx, head); err != nil {
		return err
	}
	watching, cancel := context.WithCancel(ctx)
	var watched sync.WaitGroup
	watched.Go(func() { e.watch(watching, notice) })
	e.stopWatching = func() { cancel(); watched.Wait() }
	return nil
}

// End cancels what is still asked for. Forget says that every answer is recorded elsewhere.
func (e *Evaluator) End(ctx context.Context, forget bool) error {
	if e.search == nil {
		return nil
	}
	e.stopWatching()
	ended := e.search
	e.search = nil
	return ended.End(ctx, forget)
}

// Spent says what the study has taken of the farm; nothing before it has begun.
func (e *Evaluator) Spent(ctx context.Context) (string, error) {
	if e.search == nil {
		return "", nil
	}
	spent, err := e.search.Spent(ctx)
	return farm.Spending(spent), err
}

// watch says when there is nobody who could answer, and when there is again.
func (e *Evaluator) watch(ctx context.Context, notice func(string)) {
	const interval = 10 * time.Second
	alone := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
		machines, err := e.farm.Machines(ctx, 2*farm.Silence)
		if err != nil {
			continue // whoever asks hears of it
		}
		_, missing := choose(machines, e.label(), e.subject.Definition.Compiler)
		if missing != nil && !alone {
			notice(fmt.Sprintf("waiting: %v", missing))
		}
		alone = missing != nil
	}
}

// label is one that means what was chosen.
func (e *Evaluator) label() string {
	if e.chosen.Measures == nil {
		return Replay
	}
	return e.chosen.Measures.Device
}

func (e *Evaluator) upload(ctx context.Context) error {
	for _, file := range e.files {
		if _, err := e.farm.Put(ctx, file); err != nil {
			return err
		}
	}
	return nil
}

// Number says which trial a point is, so that logs can.
func (e *Evaluator) Number(trial trial.Trial) { e.numbers.Store(trial.Point, trial.Number) }

// Refresh makes the samples that follow come from fresh processes.
func (e *Evaluator) Refresh() { e.fresh.Add(1) }

// Prepare lets somebody compile a point.
func (e *Evaluator) Prepare(ctx context.Context, point space.Point) (objective.Prepared, error) {
	p := objective.Prepared{Point: point}
	c, err := e.compilation(ctx, point)
	if err != nil {
		return p, err
	}
	p.Failure, p.Spent = c.Failure, c.Spent
	if b := c.Binary; b != nil {
		p.Binary = b.Built
		p.Binary.File, p.Binary.Hit = b.Module, c.Spent.CacheHit
	}
	return p, nil
}

// compilation returns what is known of a point's compilation, or asks for it.
func (e *Evaluator) compilation(ctx context.Context, point space.Point) (*farm.Compiled, error) {
	if known, there := e.compiled.Load(point); there {
		return known.(*farm.Compiled), nil
	}
	for range tries {
		answer, err := e.ask(ctx, e.compile, e.task(farm.Compile, point), nil)
		if err != nil {
			return nil, err
		}
		switch {
		case answer.Lost:
			return &farm.Compiled{Failure: lost(objective.Compile)}, nil
		case answer.Missing != "":
			if err := e.upload(ctx); err != nil {
				return nil, err
			}
			continue
		case answer.Compiled == nil:
			return nil, fmt.Errorf("compiling %s: the farm's answer has no compilation", point)
		}
		if answer.Compiled.Failure == nil {
			e.compiled.Store(point, answer.Compiled)
		}
		return answer.Compiled, nil
	}
	return nil, fmt.Errorf("compiling %s: the farm evicts files as fast as they are stored", point)
}

// tries is how often something is done over because a file was evicted.
const tries = 3

func lost(stage objective.Stage) *objective.Failure {
	return &objective.Failure{
		Stage:  stage,
		Reason: "machine lost",
		Detail: "every worker that was given this point died or gave it back",
	}
}

// task is a task about a point, numbered among those of its kind: asked again, a point is measured again.
func (e *Evaluator) task(action farm.Action, point space.Point) farm.Job {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := string(action) + " " + point.String()
	number := e.asked[key]
	e.asked[key]++
	parts := []string{string(action), point.String(), strconv.Itoa(number)}
	if action == farm.Verify || action == farm.Sample || action == farm.Look || action == farm.Hold {
		parts = append(parts, e.session) // a run of rounds is never pieced together
	}
	job := farm.Job{Task: farm.TaskName(parts...), Action: action, Point: point.String()}
	if trial, known := e.numbers.Load(point); known {
		job.Trial = fmt.Sprint(trial)
	}
	return job
}

func (e *Evaluator) ask(ctx context.Context, queue string, job farm.Job,
	check func(context.Context) error) (farm.Answer, error) {
	job.Subject = e.subject
	answer, err := e.search.Ask(ctx, queue, job, check)
	if err != nil {
		err = fmt.Errorf("%s: %w", job.Action, err)
	}
	return answer, err
}
