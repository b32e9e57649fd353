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

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/internal/process"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/profile"
	"pawl/search"
	"pawl/search/replay"
	"pawl/space"
	"pawl/studies"
)

// Replay is the backend that answers from a record.
const Replay = studies.Replay

// subject is what a search works on: points, and who answers for them.
type subject struct {
	// farm is where points are measured; nil where that is on this machine, or nowhere, because a record answers.
	farm *onFarm
	// bench is the kernel on this machine, and restore gives its clocks back; nil where it is not open here.
	bench     *devices.Bench
	restore   func()
	pool      *space.Pool
	start     []space.Point // what the manifest has a search begin with
	evaluator search.Evaluator
	// how is what the place says about searching there; what the study says of it is still empty.
	how search.Options
	// space describes the pool before and after the machine's limits.
	space studies.SpaceFacts
	// head is the part of a study's head that the subject knows.
	head studies.Study
	// machine and target are what a profiler needs; nil of a record.
	machine *devices.Machine
	target  devices.Target
}

// close gives the devices back: before somebody else needs them, or at the end. Nothing is measured after it.
func (s *subject) close() {
	if s.farm != nil {
		s.farm.farm.Close()
	}
	if s.bench != nil {
		s.bench.Close()
		s.restore()
	}
	s.farm, s.bench = nil, nil
}

func open(ctx context.Context, o Options) (*subject, error) {
	switch {
	case o.Farm != nil:
		return openFarm(ctx, o)
	case o.Study.Backend == Replay:
		return openReplay(o)
	case o.Study.Backend == studies.Ask:
		return openSpace(ctx, o)
	}
	return openKernel(ctx, o)
}

func openKernel(ctx context.Context, o Options) (*subject, error) {
	tools := o.Tools
	tools.Compiler, tools.CompileTimeout = o.Study.Compiler, o.Study.CompileTimeout
	machine := devices.Here(tools)
	k, err := machine.Load(ctx, cmp.Or(o.Kernel, DefaultKernel), o.Study.Backend)
	if err != nil {
		return nil, err
	}
	t, pool, err := target(ctx, k, o)
	if err != nil {
		return nil, err
	}
	how := o.Study.Measuring()
	how.Stopping.Time, how.Budget = o.BenchTime, o.Study.Budget
	b, err := machine.Open(ctx, t, how)
	if err != nil {
		return nil, err
	}
	facts := studies.NewSpaceFacts(pool)
	if pool, facts.Infeasible, err = devices.Feasible(pool, b.Backend); err != nil {
		b.Close()
		return nil, err
	}
	device := b.Backend.Facts()
	s := &subject{pool: pool, start: k.Start(), space: facts, evaluator: b.Evaluator,
		how: ahead(k, cmp.Or(o.Lanes, runtime.NumCPU())), machine: machine, target: t}
	s.how.Width = device.Width
	if s.head, err = describeKernel(t, device.Environment, device.Roofline.Comparable()); err != nil {
		b.Close()
		return nil, err
	}
	if device.Resident {
		s.how.Resident = b.Evaluator
	}
	s.bench, s.restore = b, machine.LockClocks(ctx, k, o.Study.LockClocks, o.Stop)
	return s, nil
}

// warn says what costs nothing to know before a budget is spent; once, as a resumed study may open its kernel again.
func (r *run) warn() {
	if r.bench == nil {
		return
	}
	k := r.target.Kernel
	if load, known := process.Others(watchOthers); known && !k.On().GPU {
		if text := busyText(load); text != "" {
			r.Tools.Notice(text)
		}
	}
	if k.On().Program && slices.Contains(r.Given, "caches") {
		r.Tools.Notice("--caches has no effect: a program is measured as a whole")
	}
	if failure := r.bench.Backend.Preflight(k.Default()); failure != nil {
		r.Tools.Notice(fmt.Sprintf("the default cannot be launched here: %s; %s says what else to look at", failure,
			escape.Shell("pawl", "check", k.Origin)))
	}
}

// watchOthers is how long other programs are watched before a search: long enough for the ticks of the clock.
const watchOthers = 200 * time.Millisecond

// busyShare is the share of the machine beyond which others disturb.
const busyShare = 0.25

// busyText says what other programs do to the times, or nothing.
func busyText(l process.Load) string {
	if l.Cores < busyShare*float64(l.Of) {
		return ""
	}
	names := ""
	if len(l.Programs) > 0 {
		names = " (" + strings.Join(l.Programs, ", ") + ")"
	}
	return fmt.Sprintf("the machine is busy: other programs%s use %.1f of %s, so that times are noisy and intervals "+
		"wide; close them, or tune when it is quiet", names, l.Cores, page.Count(l.Of, "core"))
}

// ahead says how many trials are in flight with so many compilers, and in which order they are measured.
func ahead(k *kernels.Kernel, lanes int) search.Options {
	if k.On().GPU {
		return search.Options{Ahead: search.Lanes(search.AcceleratorAhead, lanes), AsPrepared: true, Kinds: k.Kinds()}
	}
	return search.Options{Ahead: search.Lanes(search.DefaultAhead, lanes), Kinds: k.Kinds()}
}

// target chooses the workload that is tuned, and finds its valid points.
func target(ctx context.Context, k *kernels.Kernel, o Options) (t devices.Target, pool *space.Pool, err error) {
	if t, err = devices.NewTarget(k, o.Study.Workload); err != nil {
		return t, nil, err
	}
	if pool, err = validPoints(ctx, t.Space, o); err != nil {
		err = fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	return t, pool, err
}

func describeKernel(t devices.Target, device objective.Environment,
	roofline objective.Roofline) (head studies.Study, err error) {
	k := t.Kernel
	head = studies.Study{
		Subject: studies.Subject{
			Kernel: k.Name, Origin: k.Origin, Workload: t.Workload.Name, Dims: t.Workload.Dims.String(), Backend: device.Backend,
		},
		Workloads: studies.NewWorkloadFacts(k), Environment: device, Roofline: roofline,
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
func validPoints(ctx context.Context, s *space.Space, o Options) (*space.Pool, error) {
	if budget := o.limited().Budget; budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, budget,
			fmt.Errorf("the budget of %v was over before enough valid points were found: the constraints leave too few "+
				"of %.3g", budget, s.Product()))
		defer cancel()
	}
	s, err := o.Study.Searched(s)
	if err != nil {
		return nil, &devices.ArgumentError{Err: err}
	}
	pool, err := s.Pool(space.PoolOptions{Seed: o.Study.Seed, Done: ctx.Done()})
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
		if path, found = replay.EmbeddedOf(kernel); !found {
			return nil, devices.Argumentf("there is no recorded sweep of kernel %q; there are %s; --record FILE names another",
				kernel, strings.Join(replay.Embedded(), ", "))
		}
	}
	record, err := replay.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if asked := o.Study.Workload; asked != "" && asked != record.Workload {
		return nil, devices.Argumentf("the record is of workload %q, not of %q", record.Workload, asked)
	}
	recorded, err := replay.New(record)
	if err != nil {
		return nil, err
	}
	return &subject{
		pool: recorded.Pool(), space: studies.NewSpaceFacts(recorded.Pool()),
		evaluator: replay.NewEvaluator(recorded, o.Study.Seed),
		head: studies.Study{
			Subject: studies.Subject{Kernel: record.Kernel, Origin: path, Workload: record.Workload, Backend: Replay},
			Source:  "record " + path, Environment: record.Environment,
		},
	}, nil
}

// openSpace opens a space whose points somebody else measures.
func openSpace(ctx context.Context, o Options) (*subject, error) {
	name, points, err := kernels.LoadSpace(o.Kernel)
	if err != nil {
		return nil, err
	}
	pool, err := validPoints(ctx, points, o)
	if err != nil {
		return nil, fmt.Errorf("space %s: %w", name, err)
	}
	return &subject{
		pool: pool, space: studies.NewSpaceFacts(pool),
		head: studies.Study{
			Subject: studies.Subject{
				Kernel: name, Origin: escape.File(o.Kernel), Workload: cmp.Or(o.Study.Workload, "default"), Backend: studies.Ask,
			},
			Source: "space " + points.Fingerprint(),
			Environment: objective.Environment{
				Backend: studies.Ask, Device: cmp.Or(o.Study.Device, "an unnamed device"), Cores: runtime.NumCPU(),
				System: runtime.GOOS + "/" + runtime.GOARCH,
			},
		},
	}, nil
}
