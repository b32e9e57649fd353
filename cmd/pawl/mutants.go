package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"pawl/kernels"
	"pawl/kernels/mutants"
	"pawl/objective"
	"pawl/space"
)

// quickShare is the part of the mutants that the quick tier must catch.
const quickShare = 0.9

// mutantReport is the kill table.
type mutantReport struct {
	Seed    uint64        `json:"seed"`
	Mutants []mutantFate  `json:"mutants"`
	Quick   int           `json:"quick"`
	Full    int           `json:"full"`
	Right   []rightKernel `json:"right"`
}

// mutantFate says which tier catches a mutant, and by what.
type mutantFate struct {
	Kernel string `json:"kernel"`
	Name   string `json:"name"`
	What   string `json:"what"`
	// Quick and Full are the failures, nil for a mutant that passes.
	Quick *objective.Failure `json:"quick,omitempty"`
	Full  *objective.Failure `json:"full,omitempty"`
	// Cases is how many cases of the full tier it took.
	Cases int `json:"cases"`
}

// rightKernel is an embedded kernel as it is: it must pass.
type rightKernel struct {
	Kernel  string             `json:"kernel"`
	Failure *objective.Failure `json:"failure,omitempty"`
}

// subjects remembers on which backend each kernel is checked.
type subjects map[string]*target

// of returns an embedded kernel on the backend of the command line, or nil for
// one that has nothing for it.
func (s subjects) of(c *cli.Context, env environment, name string) (*target, error) {
	if t, known := s[name]; known {
		return t, nil
	}
	k, accelerator, err := loadKernel(c, env, name)
	var none *kernels.NoSourceError
	switch {
	case errors.As(err, &none):
		s[name] = nil
	case err != nil:
		return nil, err
	default:
		s[name] = &target{kernel: k, accelerator: accelerator}
	}
	return s[name], nil
}

// fuzzMutants prints the kill table of the mutants of one kernel, or of all, on
// the backend of the command line.
func fuzzMutants(c *cli.Context, env environment) error {
	result := mutantReport{Seed: c.Uint64("seed")}
	line := newProgressLine(env.stderr)
	defer line.clear()
	known, right := subjects{}, []*target{}
	for _, m := range mutants.All() {
		if c.NArg() > 0 && !slices.Contains(c.Args().Slice(), m.Kernel) {
			continue
		}
		t, err := known.of(c, env, m.Kernel)
		if err != nil {
			return err
		}
		if t == nil || t.kernel.Backend != m.Backend {
			continue
		}
		if !slices.Contains(right, t) {
			right = append(right, t)
		}
		line.show("mutant %d: %s, %s", len(result.Mutants)+1, m.Kernel, m.Name)
		fate, err := tryMutant(c, env, t, m)
		if err != nil {
			return fmt.Errorf("mutant %s of %s: %w", m.Name, m.Kernel, err)
		}
		result.count(fate)
	}
	if len(result.Mutants) == 0 {
		fmt.Fprintln(env.stderr, "pawl: no mutant is made from these kernels: nothing to test")
		return answer(exitNothing)
	}
	for _, t := range right {
		line.show("the right %s", t.kernel.Name)
		failure, err := tryRight(c, env, t)
		if err != nil {
			return err
		}
		result.Right = append(result.Right, rightKernel{t.kernel.Name, failure})
	}
	line.clear()
	return result.conclude(c, env)
}

func (r *mutantReport) count(fate mutantFate) {
	r.Mutants = append(r.Mutants, fate)
	if fate.Quick != nil {
		r.Quick++
	}
	if fate.Full != nil {
		r.Full++
	}
}

// tryMutant compiles a mutant and puts it through both tiers.
func tryMutant(c *cli.Context, env environment, t *target, m mutants.Mutant) (mutantFate, error) {
	fate := mutantFate{Kernel: m.Kernel, Name: m.Name, What: m.What}
	parent, err := os.MkdirTemp("", "pawl-mutant-")
	if err != nil {
		return fate, err
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, m.Kernel)
	if err := m.Write(dir); err != nil {
		return fate, err
	}
	k, err := kernels.Load(dir, m.Backend)
	if err != nil {
		return fate, err
	}
	err = t.with(c, env, k, m.At, func(ctx context.Context, b *bench, p objective.Prepared) error {
		if p.Failure != nil {
			return fmt.Errorf("it does not even compile: %s", p.Failure)
		}
		finding, err := b.evaluator.TryQuick(ctx, p)
		if err != nil {
			return err
		}
		fate.Quick = finding.Failure
		finding, err = b.evaluator.Try(ctx, p, slices.Values(b.evaluator.FullCases(p.Point)), nil)
		fate.Full, fate.Cases = finding.Failure, finding.Checked
		return err
	})
	return fate, err
}

// tryRight puts an embedded kernel itself through the full tier.
func tryRight(c *cli.Context, env environment, t *target) (failure *objective.Failure, err error) {
	err = t.with(c, env, t.kernel, "", func(ctx context.Context, b *bench, p objective.Prepared) error {
		failure, err = b.evaluator.Verify(ctx, p)
		return err
	})
	return failure, err
}

// with opens another version of the target's kernel at a point, on the same
// device, and does something with it.
func (t *target) with(c *cli.Context, env environment, k *kernels.Kernel, at string, do func(context.Context, *bench, objective.Prepared) error) error {
	version := &target{kernel: k, workload: k.Workloads[0], accelerator: t.accelerator}
	var err error
	if version.space, err = k.Space(version.workload); err != nil {
		return err
	}
	partial, err := space.ParsePoint(at)
	if err != nil {
		return err
	}
	point, err := version.space.Complete(partial)
	if err != nil {
		return err
	}
	b, err := version.openBench(c.Context, c, env)
	if err != nil {
		return err
	}
	defer b.close()
	prepared, err := b.evaluator.Prepare(c.Context, point)
	if err != nil {
		return err
	}
	return do(c.Context, b, prepared)
}

// conclude prints the table and says whether the checks are good enough.
func (r *mutantReport) conclude(c *cli.Context, env environment) error {
	if c.Bool("json") {
		if err := printJSON(env, r); err != nil {
			return err
		}
	} else if err := r.print(env.stdout); err != nil {
		return err
	}
	good := r.Full == len(r.Mutants) && float64(r.Quick) >= quickShare*float64(len(r.Mutants))
	for _, k := range r.Right {
		good = good && k.Failure == nil
	}
	if !good {
		return answer(exitNo)
	}
	return nil
}

func (r *mutantReport) print(w io.Writer) error {
	reason := func(f *objective.Failure) string {
		if f == nil {
			return "passes"
		}
		return f.Reason
	}
	var rows [][]string
	for _, m := range r.Mutants {
		rows = append(rows, []string{m.Kernel, m.Name, reason(m.Quick), reason(m.Full), fmt.Sprint(m.Cases), m.What})
	}
	if err := render(w, []string{"kernel", "mutant", "quick tier", "full tier", "cases", "what is wrong"}, rows); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d mutants, seed %d: the quick tier catches %d (%.0f %%, %.0f %% are asked for), the full tier %d (all are asked for)\n",
		len(r.Mutants), r.Seed, r.Quick, 100*float64(r.Quick)/float64(len(r.Mutants)), 100*quickShare, r.Full)
	for _, k := range r.Right {
		if k.Failure == nil {
			fmt.Fprintf(w, "%s as it is: right\n", k.Kernel)
		} else {
			fmt.Fprintf(w, "%s as it is: a false alarm: %s\n", k.Kernel, k.Failure)
		}
	}
	return nil
}
