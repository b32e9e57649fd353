// Package mutation checks the checks: it puts wrong kernels (kernels/mutants) through
// the tiers and counts which tier catches which.
//
//  1. Choose the mutants of the kernels that are asked for, for a backend that this
//     machine has.
//  2. Compile all of them, so that the device never waits for a compiler.
//  3. Put each through both tiers; one that cheats only while it is timed is timed.
//  4. Put the kernels as they are through the full tier: a false alarm is a defect too.
//
// Mistakes that no result shows are a table of their own: RunHidden puts each under the
// sanitizer that should see it.
package mutation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"pawl/kernels"
	"pawl/kernels/mutants"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/worker"
)

// QuickShare is the part of the mutants that the quick tier must catch. The full tier
// must catch all.
const QuickShare = 0.9

// ErrNone says that no mutant is made from the kernels for the backend.
var ErrNone = errors.New("no mutant is made from these kernels for this backend")

// Report is the kill table.
type Report struct {
	Backend string `json:"backend"`
	Seed    uint64 `json:"seed"`
	Mutants []Fate `json:"mutants"`
	Quick   int    `json:"quick"`
	Full    int    `json:"full"`
	// Cheats is how many are right until they are timed, Timed how many of those
	// are caught; Quick and Full are of the others.
	Cheats int           `json:"cheats"`
	Timed  int           `json:"timed"`
	Right  []RightKernel `json:"right"`
}

// Fate says which tier catches a mutant, and by what.
type Fate struct {
	Kernel string `json:"kernel"`
	Name   string `json:"name"`
	What   string `json:"what"`
	// Quick and Full are the failures, nil for a mutant that passes.
	Quick *objective.Failure `json:"quick,omitempty"`
	Full  *objective.Failure `json:"full,omitempty"`
	// Cases is how many cases of the full tier it took.
	Cases int `json:"cases"`
	// Cheats says that it may be right until it is timed; Timed is the failure then.
	Cheats bool               `json:"cheats,omitempty"`
	Timed  *objective.Failure `json:"timed,omitempty"`
}

// RightKernel is an embedded kernel as it is: it must pass.
type RightKernel struct {
	Kernel  string             `json:"kernel"`
	Failure *objective.Failure `json:"failure,omitempty"`
}

// Others is the number of mutants that are wrong without being timed.
func (r *Report) Others() int { return len(r.Mutants) - r.Cheats }

// Good reports whether the checks are good enough.
func (r *Report) Good() bool {
	alarm := slices.ContainsFunc(r.Right, func(k RightKernel) bool { return k.Failure != nil })
	return r.Full == r.Others() && r.Timed == r.Cheats && float64(r.Quick) >= QuickShare*float64(r.Others()) && !alarm
}

func (r *Report) add(fate Fate) {
	r.Mutants = append(r.Mutants, fate)
	if fate.Cheats {
		r.Cheats++
		if fate.Timed != nil {
			r.Timed++
		}
		return
	}
	if fate.Quick != nil {
		r.Quick++
	}
	if fate.Full != nil {
		r.Full++
	}
}

// Run makes the kill table of the mutants of the named kernels, or of all. Backend is
// one of devices.Backends; observe gets a line for the user about what is being done.
func Run(ctx context.Context, m *devices.Machine, backend string, names []string, o objective.Options,
	observe func(text string)) (*Report, error) {
	chosen, err := choose(ctx, m, backend, names, mutants.All)
	if err != nil {
		return nil, err
	}
	l := &lab{machine: m, options: o}
	l.options.Residents = &l.residents
	defer l.close()
	observe(fmt.Sprintf("compiling %d mutants", len(chosen)))
	attempts, err := l.prepareAll(ctx, chosen)
	if err != nil {
		return nil, err
	}
	r := &Report{Backend: chosen[0].Backend, Seed: o.Seed}
	var right []string
	for i, a := range attempts {
		observe(fmt.Sprintf("mutant %d of %d: %s, %s", i+1, len(attempts), a.mutant.Kernel, a.mutant.Name))
		fate, err := a.try(ctx)
		if err != nil {
			return nil, fmt.Errorf("mutant %s of %s: %w", a.mutant.Name, a.mutant.Kernel, err)
		}
		r.add(fate)
		if !slices.Contains(right, a.mutant.Kernel) {
			right = append(right, a.mutant.Kernel)
		}
	}
	for _, name := range right {
		observe("the right " + name)
		failure, err := l.tryRight(ctx, name, r.Backend)
		if err != nil {
			return nil, err
		}
		r.Right = append(r.Right, RightKernel{name, failure})
	}
	return r, nil
}

// choose returns the mutants of the kernels for the backend that is asked for, of those
// that a list has; ErrNone says that there is none.
func choose(ctx context.Context, m *devices.Machine, asked string, names []string,
	list func(backend string) []mutants.Mutant) ([]mutants.Mutant, error) {
	named := func(backend string) []mutants.Mutant {
		return slices.DeleteFunc(list(backend), func(m mutants.Mutant) bool {
			return len(names) > 0 && !slices.Contains(names, m.Kernel)
		})
	}
	err := ErrNone
	for _, backend := range devices.Named(asked) {
		chosen := named(backend)
		if len(chosen) == 0 {
			continue
		}
		if err = m.Missing(ctx, backend); err == nil {
			return chosen, nil
		}
	}
	return nil, err
}

// lab is what the mutants of one table share: the device, the processes that hold
// inputs and right answers there, and a folder for their sources.
type lab struct {
	machine   *devices.Machine
	options   objective.Options
	residents worker.Residents
	dir       string
	attempts  []attempt
}

func (l *lab) close() {
	for _, a := range l.attempts {
		if a.Bench != nil {
			a.Close()
		}
	}
	l.residents.End()
	if l.dir != "" {
		os.RemoveAll(l.dir)
	}
}

// attempt is a mutant that is compiled and ready for the tiers.
type attempt struct {
	mutant mutants.Mutant
	*devices.Bench
	prepared objective.Prepared
}

// prepareAll compiles the mutants, one per core at a time. The first goes ahead: it
// compiles what all share.
func (l *lab) prepareAll(ctx context.Context, list []mutants.Mutant) (_ []attempt, err error) {
	if l.dir, err = os.MkdirTemp("", "pawl-mutants-"); err != nil {
		return nil, err
	}
	l.attempts = make([]attempt, len(list))
	prepare := func(i int) (err error) {
		if l.attempts[i], err = l.prepare(ctx, list[i], filepath.Join(l.dir, strconv.Itoa(i), list[i].Kernel)); err != nil {
			return fmt.Errorf("mutant %s of %s: %w", list[i].Name, list[i].Kernel, err)
		}
		return nil
	}
	if err := prepare(0); err != nil {
		return nil, err
	}
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i := 1; i < len(list); i++ {
		group.Go(func() error { return prepare(i) })
	}
	return l.attempts, group.Wait()
}

func (l *lab) prepare(ctx context.Context, m mutants.Mutant, dir string) (a attempt, err error) {
	a.mutant = m
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return a, err
	}
	if err := m.Write(dir); err != nil {
		return a, err
	}
	a.Bench, a.prepared, err = l.open(ctx, dir, m.Backend, m.Workload, m.At)
	if err == nil && a.prepared.Failure != nil {
		err = fmt.Errorf("it does not even compile: %s", a.prepared.Failure)
	}
	return a, err
}

// open compiles a kernel at a point for a workload; empty means its first.
func (l *lab) open(ctx context.Context,
	name, backend, workload, at string) (*devices.Bench, objective.Prepared, error) {
	k, err := kernels.Load(name, backend)
	if err != nil {
		return nil, objective.Prepared{}, err
	}
	return l.machine.OpenAt(ctx, k, workload, at, l.options)
}

// try puts a mutant through both tiers, and times one that cheats.
func (a attempt) try(ctx context.Context) (Fate, error) {
	fate := Fate{Kernel: a.mutant.Kernel, Name: a.mutant.Name, What: a.mutant.What}
	defer a.Close() // its processes are of no more use
	finding, err := a.TryQuick(ctx, a.prepared)
	if err != nil {
		return fate, err
	}
	fate.Quick = finding.Failure
	finding, err = a.Try(ctx, a.prepared, slices.Values(a.FullCases(a.prepared.Point)), nil)
	fate.Full, fate.Cases = finding.Failure, finding.Checked
	if err != nil || !a.mutant.Timed {
		return fate, err
	}
	fate.Cheats = true
	outcome, err := a.Measure(ctx, a.prepared, 0)
	fate.Timed = outcome.Failure
	return fate, err
}

// tryRight puts the kernel itself through the full tier, and times it.
func (l *lab) tryRight(ctx context.Context, name, backend string) (*objective.Failure, error) {
	dir := filepath.Join(l.dir, "right", name)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	if err := mutants.Right(name, dir); err != nil {
		return nil, err
	}
	b, prepared, err := l.open(ctx, dir, backend, "", "")
	if err != nil {
		return nil, err
	}
	defer b.Close()
	failure, err := b.Verify(ctx, prepared)
	if failure != nil || err != nil {
		return failure, err
	}
	outcome, err := b.Measure(ctx, prepared, 0)
	return outcome.Failure, err
}
