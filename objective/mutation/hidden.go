package mutation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/kernels"
	"pawl/kernels/mutants"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/devices"
	"pawl/objective/worker"
)

// Watch is what sanitizers see of the mutants that no result shows.
type Watch struct {
	Backend string     `json:"backend"`
	Seed    uint64     `json:"seed"`
	Mutants []Sighting `json:"mutants"`
	Seen    int        `json:"seen"`
	// Right are the kernels as they are, under the same tools.
	Right []Sighting `json:"right"`
}

// Sighting is what a tool says of a kernel.
type Sighting struct {
	Kernel string `json:"kernel"`
	// Name and What are of a mutant.
	Name string `json:"name,omitempty"`
	What string `json:"what,omitempty"`
	Tool string `json:"tool"`
	// Failure is what it found, nil for nothing.
	Failure *objective.Failure `json:"failure,omitempty"`
}

// Good reports whether the tools see every mutant, and nothing in the right kernels.
func (w *Watch) Good() bool {
	return w.Seen == len(w.Mutants) && !slices.ContainsFunc(w.Right, func(s Sighting) bool { return s.Failure != nil })
}

func (w *Watch) add(s Sighting) {
	w.Mutants = append(w.Mutants, s)
	// On the host a finding ends the process. A wrong result is none of a tool's, and
	// neither is a kernel that hangs.
	if s.Failure != nil && s.Failure.Reason != string(check.WrongResult) && s.Failure.Reason != string(worker.Hung) {
		w.Seen++
	}
}

// RunHidden puts the mutants that no result shows under the tool that should see them,
// on the cases that pawl fuzz --sanitizer takes where tools are slow. An error that
// wraps objective.ErrNoSanitizer means that nothing was checked.
func RunHidden(ctx context.Context, m *devices.Machine, backend string, names []string, o objective.Options,
	observe func(text string)) (*Watch, error) {
	chosen, err := choose(ctx, m, backend, names, mutants.Hidden)
	if err != nil {
		return nil, err
	}
	l := &lab{machine: m, options: o}
	defer l.close()
	if l.dir, err = os.MkdirTemp("", "pawl-mutants-"); err != nil {
		return nil, err
	}
	w := &Watch{Backend: chosen[0].Backend, Seed: o.Seed}
	for i, mutant := range chosen {
		observe(fmt.Sprintf("mutant %d of %d: %s, %s, under %s", i+1, len(chosen), mutant.Kernel, mutant.Name, mutant.Tool))
		dir := filepath.Join(l.dir, strconv.Itoa(i))
		wrong, right := filepath.Join(dir, "wrong", mutant.Kernel), filepath.Join(dir, "right", mutant.Kernel)
		for _, folder := range []string{wrong, right} {
			if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
				return nil, err
			}
		}
		if err := mutant.Write(wrong); err != nil {
			return nil, err
		}
		if err := mutants.Right(mutant.Kernel, right); err != nil {
			return nil, err
		}
		seen, err := l.watch(ctx, wrong, mutant)
		if err != nil {
			return nil, err
		}
		w.add(seen)
		if slices.ContainsFunc(w.Right, func(r Sighting) bool { return r.Kernel == seen.Kernel && r.Tool == seen.Tool }) {
			continue
		}
		if seen, err = l.watch(ctx, right, mutant); err != nil {
			return nil, err
		}
		seen.Name, seen.What = "", ""
		w.Right = append(w.Right, seen)
	}
	return w, nil
}

// second is what a case is allowed without a tool: all are small, and with a tool a mutant
// that hangs is given up after a minute.
const second = time.Second

// watch runs a kernel under the tool of a mutant.
func (l *lab) watch(ctx context.Context, dir string, m mutants.Mutant) (Sighting, error) {
	seen := Sighting{Kernel: m.Kernel, Name: m.Name, What: m.What, Tool: m.Tool}
	fail := func(err error) (Sighting, error) {
		return seen, fmt.Errorf("mutant %s of %s: %w", m.Name, m.Kernel, err)
	}
	k, err := kernels.Load(dir, m.Backend)
	if err != nil {
		return fail(err)
	}
	t, err := devices.NewTarget(k, m.Workload)
	if err != nil {
		return fail(err)
	}
	point, err := t.Point(m.At)
	if err != nil {
		return fail(err)
	}
	b, err := l.machine.Open(ctx, t, l.options)
	if err != nil {
		return fail(err)
	}
	defer b.Close()
	tool, err := sanitizer(ctx, b, m.Tool)
	if err != nil {
		return fail(err)
	}
	seen.Tool = tool.Name
	e := objective.NewEvaluator(t.Kernel, t.Workload, tool.Backend, objective.Options{
		Seed: l.options.Seed, RunTimeout: min(l.options.RunTimeout, second) * time.Duration(tool.Slowdown),
	})
	defer e.Close()
	prepared, err := e.Prepare(ctx, point)
	if err == nil && prepared.Failure != nil {
		err = fmt.Errorf("it does not even compile: %s", prepared.Failure)
	}
	if err != nil {
		return fail(err)
	}
	cases := e.QuickCases(point)
	// The workload comes last, and is large.
	finding, err := e.Try(ctx, prepared, slices.Values(cases[:max(1, len(cases)-1)]), nil)
	if err != nil {
		return fail(err)
	}
	seen.Failure = finding.Failure
	return seen, nil
}

// sanitizer returns the tool of a backend that has a part in its name.
func sanitizer(ctx context.Context, b *devices.Bench, part string) (objective.Sanitizer, error) {
	sanitizing, able := b.Backend.(objective.Sanitizing)
	if !able {
		return objective.Sanitizer{}, fmt.Errorf("%w for backend %s", objective.ErrNoSanitizer, b.Kernel.Backend)
	}
	tools, err := sanitizing.Sanitized(ctx)
	if err != nil {
		return objective.Sanitizer{}, err
	}
	i := slices.IndexFunc(tools, func(t objective.Sanitizer) bool { return strings.Contains(t.Name, part) })
	if i < 0 {
		return objective.Sanitizer{}, fmt.Errorf("%w: no %s", objective.ErrNoSanitizer, part)
	}
	return tools[i], nil
}
