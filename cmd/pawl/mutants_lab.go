package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/urfave/cli/v2"

	"pawl/kernels"
	"pawl/kernels/mutants"
	"pawl/objective"
	"pawl/objective/session"
	"pawl/space"
)

// mutantLab is what the mutants of one table share: the device, the processes
// that hold inputs and right answers there, and a folder for their sources.
type mutantLab struct {
	c           *cli.Context
	env         environment
	accelerator *accelerator
	residents   session.Residents
	dir         string
	benches     []*bench
}

func (l *mutantLab) close() {
	for _, b := range l.benches {
		b.close()
	}
	l.residents.End()
	if l.dir != "" {
		os.RemoveAll(l.dir)
	}
}

// mutantAttempt is a mutant that is compiled and ready for the tiers.
type mutantAttempt struct {
	mutant   mutants.Mutant
	bench    *bench
	prepared objective.Prepared
}

// prepareAll compiles the mutants, one per core at a time, so that the device
// never waits for a compiler. The first goes ahead: it compiles what all share.
func (l *mutantLab) prepareAll(list []mutants.Mutant) ([]mutantAttempt, error) {
	var err error
	if l.dir, err = os.MkdirTemp("", "pawl-mutants-"); err != nil {
		return nil, err
	}
	attempts := make([]mutantAttempt, len(list))
	errs := make([]error, len(list))
	prepare := func(i int) {
		attempts[i], errs[i] = l.prepare(list[i], filepath.Join(l.dir, strconv.Itoa(i), list[i].Kernel))
		if errs[i] != nil {
			errs[i] = fmt.Errorf("mutant %s of %s: %w", list[i].Name, list[i].Kernel, errs[i])
		}
	}
	prepare(0)
	cores := make(chan struct{}, runtime.NumCPU())
	var wait sync.WaitGroup
	for i := 1; i < len(list) && errs[0] == nil; i++ {
		cores <- struct{}{}
		wait.Go(func() { prepare(i); <-cores })
	}
	wait.Wait()
	for _, a := range attempts {
		if a.bench != nil {
			l.benches = append(l.benches, a.bench)
		}
	}
	return attempts, errors.Join(errs...)
}

func (l *mutantLab) prepare(m mutants.Mutant, dir string) (mutantAttempt, error) {
	a := mutantAttempt{mutant: m}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return a, err
	}
	if err := m.Write(dir); err != nil {
		return a, err
	}
	var err error
	a.bench, a.prepared, err = l.open(dir, m.Backend, m.At)
	if err == nil && a.prepared.Failure != nil {
		err = fmt.Errorf("it does not even compile: %s", a.prepared.Failure)
	}
	return a, err
}

// open compiles a kernel at a point for its first workload.
func (l *mutantLab) open(name, backend, at string) (*bench, objective.Prepared, error) {
	none := objective.Prepared{}
	k, err := kernels.Load(name, backend)
	if err != nil {
		return nil, none, err
	}
	t := &target{kernel: k, workload: k.Workloads[0], accelerator: l.accelerator, residents: &l.residents}
	if t.space, err = k.Space(t.workload); err != nil {
		return nil, none, err
	}
	partial, err := space.ParsePoint(at)
	if err != nil {
		return nil, none, err
	}
	point, err := t.space.Complete(partial)
	if err != nil {
		return nil, none, err
	}
	b, err := t.openBench(l.c.Context, l.c, l.env)
	if err != nil {
		return nil, none, err
	}
	prepared, err := b.evaluator.Prepare(l.c.Context, point)
	return b, prepared, err
}

// try puts a mutant through both tiers, and times one that cheats.
func (a mutantAttempt) try(ctx context.Context) (mutantFate, error) {
	fate := mutantFate{Kernel: a.mutant.Kernel, Name: a.mutant.Name, What: a.mutant.What}
	evaluator := a.bench.evaluator
	defer evaluator.Close() // its processes are of no more use
	finding, err := evaluator.TryQuick(ctx, a.prepared)
	if err != nil {
		return fate, err
	}
	fate.Quick = finding.Failure
	finding, err = evaluator.Try(ctx, a.prepared, slices.Values(evaluator.FullCases(a.prepared.Point)), nil)
	fate.Full, fate.Cases = finding.Failure, finding.Checked
	if err != nil || !a.mutant.Timed {
		return fate, err
	}
	fate.Cheats = true
	outcome, err := evaluator.Measure(ctx, a.prepared, 0)
	fate.Timed = outcome.Failure
	return fate, err
}

// tryRight puts the kernel itself through the full tier, and times it.
func (l *mutantLab) tryRight(name, backend string) (*objective.Failure, error) {
	dir := filepath.Join(l.dir, "right", name)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	if err := mutants.Right(name, dir); err != nil {
		return nil, err
	}
	b, prepared, err := l.open(dir, backend, "")
	if b != nil {
		defer b.close()
	}
	if err != nil {
		return nil, err
	}
	failure, err := b.evaluator.Verify(l.c.Context, prepared)
	if failure != nil || err != nil {
		return failure, err
	}
	outcome, err := b.evaluator.Measure(l.c.Context, prepared, 0)
	return outcome.Failure, err
}
