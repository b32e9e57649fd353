package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"pawl/kernels"
	"pawl/kernels/records"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/profile"
	"pawl/objective/worker"
	"pawl/search"
	"pawl/search/replay"
	"pawl/space"
	"pawl/studies"
)

// Replay is the backend that answers from a record.
const Replay = "replay"

// DefaultKernel is tuned when none is named.
const DefaultKernel = "attention"

// subject is what a search works on: points, and who answers for them.
type subject struct {
	pool      *space.Pool
	evaluator search.Evaluator
	// width is how many points are measured at once, and resident the device where
	// it has time to spare: see search.Options.
	width    int
	resident search.Resident
	// space describes the pool before and after the machine's limits.
	space studies.SpaceFacts
	// head is the part of a study's head that the subject knows.
	head studies.Study
	// ahead is how many trials are in flight at most; 0 is the search's own default.
	// asPrepared measures of those that are compiled what promises most, not in the order asked.
	ahead      int
	asPrepared bool
	// machine and target are what a profiler needs; nil of a record.
	machine *devices.Machine
	target  devices.Target
	close   func()
	// begin and end are called before and after a search, and refresh as search.Options
	// says; nil where nobody needs to hear of it. lanes is how many compilers there are, 0
	// for this machine's.
	begin   func(context.Context, studies.Study) error
	end     func(ctx context.Context, finished bool) error
	refresh func()
	lanes   int
	// number hears of each trial; nil where nobody needs to.
	number func(search.Trial)
	// overspent reports whether the budget on a farm is spent; nil for no budget.
	overspent func() bool
}

func open(ctx context.Context, o Options) (*subject, error) {
	switch {
	case o.Farm != nil:
		return openFarm(ctx, o)
	case o.Study.Backend == Replay:
		return openReplay(o)
	}
	return openKernel(ctx, o)
}

// openKernel opens a kernel on this machine.
func openKernel(ctx context.Context, o Options) (*subject, error) {
	machine := devices.Here(devices.Options{
		Compiler: o.Study.Compiler, Cache: o.Cache, CompileTimeout: time.Duration(o.Study.CompileTimeout),
		Forget: o.Study.Cold || o.Study.LockClocks > 0, // locked, the device is another one
		Getenv: o.Getenv, Notice: o.Notice,
	})
	k, err := machine.Load(ctx, cmp.Or(o.Kernel, DefaultKernel), o.Study.Backend)
	if err != nil {
		return nil, err
	}
	t, pool, err := target(ctx, k, o.Study)
	if err != nil {
		return nil, err
	}
	if k.Backend == kernels.Host && slices.Contains(o.Given, "caches") {
		o.Notice("--caches has no effect: the kernel runs on the processor")
	}
	b, err := machine.Open(ctx, t, objective.Options{
		Seed: o.Study.Seed, RunTimeout: time.Duration(o.Study.RunTimeout),
		Stopping: objective.Stopping{Floor: o.Study.Samples}, Caches: worker.Caches(o.Study.Caches),
	})
	if err != nil {
		return nil, err
	}
	facts := studies.NewSpaceFacts(pool)
	if pool, facts.Infeasible, err = devices.Feasible(pool, b.Backend); err != nil {
		b.Close()
		return nil, err
	}
	// What costs nothing to know is said before a budget is spent.
	if failure := b.Backend.Preflight(k.Default()); failure != nil {
		o.Notice(fmt.Sprintf("the default cannot be launched here: %s; pawl check --preflight %s says what else to "+
			"look at", failure, k.Origin))
	}
	device := b.Backend.Facts()
	s := &subject{pool: pool, space: facts, evaluator: b.Evaluator, width: device.Width, machine: machine, target: t}
	if s.head, err = describeKernel(t, device.Environment, device.Roofline.Measure()); err != nil {
		b.Close()
		return nil, err
	}
	if device.Resident {
		s.resident = b.Evaluator
	}
	s.askAhead(k, cmp.Or(o.Lanes, runtime.NumCPU()))
	restore := machine.LockClocks(ctx, k, o.Study.LockClocks, o.Stop)
	s.close = func() {
		b.Close()
		restore()
	}
	return s, nil
}

// askAhead says how many trials are in flight with so many compilers, and in which order they
// are measured.
func (s *subject) askAhead(k *kernels.Kernel, lanes int) {
	most := search.DefaultAhead
	if k.Backend == kernels.CUDA {
		most, s.asPrepared = search.AcceleratorAhead, true
	}
	s.ahead = search.Lanes(most, lanes)
}

// target chooses the workload that is tuned, and finds its valid points.
func target(ctx context.Context, k *kernels.Kernel, o studies.Options) (t devices.Target, pool *space.Pool, err error) {
	if t, err = devices.NewTarget(k, o.Workload); err != nil {
		return t, nil, err
	}
	if pool, err = validPoints(ctx, t.Space, o); err != nil {
		err = fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	return t, pool, err
}

// describeKernel returns what a kernel and its device say of a study's head.
func describeKernel(t devices.Target, device objective.Environment,
	roofline objective.Roofline) (head studies.Study, err error) {
	k := t.Kernel
	head = studies.Study{
		Kernel: k.Name, Origin: k.Origin, Workload: t.Workload.Name, Dims: t.Workload.Dims.String(),
		Workloads: studies.NewWorkloadFacts(k),
		Backend:   device.Backend, Environment: device, Roofline: roofline,
	}
	if head.Source, err = k.Digest(); err != nil {
		return head, err
	}
	if !k.Work.Varies(t.Workload.Dims) { // what does is recorded with each trial
		if head.Work.Flops, head.Work.Bytes, err = k.Work.For(t.Workload.Dims, k.Default()); err != nil {
			return head, err
		}
	}
	head.Work.Memory, err = profile.ArgumentBytes(t.Kernel, t.Workload)
	return head, err
}

// validPoints finds the valid points, for no longer than the whole budget.
func validPoints(ctx context.Context, s *space.Space, o studies.Options) (*space.Pool, error) {
	if _, budget := limits(o); budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, budget,
			fmt.Errorf("the budget of %v was over before enough valid points were found: the constraints leave too few "+
				"of %.3g", budget, s.Product()))
		defer cancel()
	}
	pool, err := s.Pool(space.PoolOptions{Seed: o.Seed, Done: ctx.Done()})
	if errors.Is(err, space.ErrStopped) {
		return nil, fmt.Errorf("%w: %w", err, context.Cause(ctx))
	}
	return pool, err
}

// openReplay opens a recorded space: the record that is named, or the embedded one of
// a kernel.
func openReplay(o Options) (*subject, error) {
	path := o.Study.Record
	if path == "" {
		kernel := cmp.Or(o.Kernel, DefaultKernel)
		var found bool
		if path, found = records.Of(kernel); !found {
			return nil,
				argumentError("there is no recorded sweep of kernel %q; there are %s; --record FILE names another", kernel,
					strings.Join(records.Names(), ", "))
		}
	}
	record, err := replay.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if asked := o.Study.Workload; asked != "" && asked != record.Workload {
		return nil, argumentError("the record is of workload %q, not of %q", record.Workload, asked)
	}
	recorded, err := replay.New(record)
	if err != nil {
		return nil, err
	}
	return &subject{
		pool: recorded.Pool(), space: studies.NewSpaceFacts(recorded.Pool()),
		evaluator: replay.NewEvaluator(recorded, o.Study.Seed), close: func() {},
		head: studies.Study{
			Kernel: record.Kernel, Origin: path, Workload: record.Workload,
			Backend: Replay, Source: "record " + path, Environment: record.Environment,
		},
	}, nil
}

func argumentError(format string, arguments ...any) error {
	return &devices.ArgumentError{Err: fmt.Errorf(format, arguments...)}
}
