package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/kernels"
	"pawl/kernels/mutants"
	"pawl/objective"
	"pawl/objective/host"
)

// quickShare is the part of the mutants that the quick tier must catch.
const quickShare = 0.9

// mutantReport is the kill table.
type mutantReport struct {
	Backend string       `json:"backend"`
	Seed    uint64       `json:"seed"`
	Mutants []mutantFate `json:"mutants"`
	Quick   int          `json:"quick"`
	Full    int          `json:"full"`
	// Cheats is how many are right until they are timed, Timed how many of those
	// are caught; Quick and Full are of the others.
	Cheats int           `json:"cheats"`
	Timed  int           `json:"timed"`
	Right  []rightKernel `json:"right"`
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
	// Cheats says that it may be right until it is timed; Timed is the failure then.
	Cheats bool               `json:"cheats,omitempty"`
	Timed  *objective.Failure `json:"timed,omitempty"`
}

// rightKernel is an embedded kernel as it is: it must pass.
type rightKernel struct {
	Kernel  string             `json:"kernel"`
	Failure *objective.Failure `json:"failure,omitempty"`
}

// fuzzMutants prints the kill table of the mutants of one kernel, or of all.
func fuzzMutants(c *cli.Context, env environment) error {
	if err := checkDeviceFlags(c); err != nil {
		return err
	}
	chosen, accelerator, err := chooseMutants(c, env)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		fmt.Fprintln(env.stderr, "pawl: no mutant is made from these kernels for this backend: nothing to test")
		return answer(exitNothing)
	}
	line := newProgressLine(env.stderr)
	defer line.clear()
	lab := &mutantLab{c: c, env: env, accelerator: accelerator}
	defer lab.close()
	line.show("compiling %d mutants", len(chosen))
	attempts, err := lab.prepareAll(chosen)
	if err != nil {
		return err
	}
	result := mutantReport{Backend: chosen[0].Backend, Seed: c.Uint64("seed")}
	for i, a := range attempts {
		line.show("mutant %d of %d: %s, %s", i+1, len(attempts), a.mutant.Kernel, a.mutant.Name)
		fate, err := a.try(c.Context)
		if err != nil {
			return fmt.Errorf("mutant %s of %s: %w", a.mutant.Name, a.mutant.Kernel, err)
		}
		result.count(fate)
	}
	for _, name := range kernelsOf(chosen) {
		line.show("the right %s", name)
		failure, err := lab.tryRight(name, result.Backend)
		if err != nil {
			return err
		}
		result.Right = append(result.Right, rightKernel{name, failure})
	}
	line.clear()
	return result.conclude(c, env)
}

// chooseMutants returns the mutants of the kernels and the backend that the
// command line asks for, and the accelerator, nil for the host.
func chooseMutants(c *cli.Context, env environment) ([]mutants.Mutant, *accelerator, error) {
	asked := c.String("backend")
	named := func(backend string) []mutants.Mutant {
		return slices.DeleteFunc(mutants.All(backend), func(m mutants.Mutant) bool {
			return c.NArg() > 0 && !slices.Contains(c.Args().Slice(), m.Kernel)
		})
	}
	onGPU := named(kernels.CUDA)
	if asked == host.DeviceName || asked == autoBackend && len(onGPU) == 0 {
		return named(kernels.Host), nil, nil
	}
	accelerator, missing := findAccelerator(c.Context, c, env)
	switch {
	case missing == nil:
		return onGPU, accelerator, nil
	case asked == autoBackend:
		return named(kernels.Host), nil, nil
	}
	return nil, nil, fmt.Errorf("%w; pawl doctor says what this machine has", missing)
}

// kernelsOf returns the kernels that mutants are made from.
func kernelsOf(list []mutants.Mutant) []string {
	var names []string
	for _, m := range list {
		if !slices.Contains(names, m.Kernel) {
			names = append(names, m.Kernel)
		}
	}
	return names
}

func (r *mutantReport) count(fate mutantFate) {
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

// conclude prints the table and says whether the checks are good enough.
func (r *mutantReport) conclude(c *cli.Context, env environment) error {
	if c.Bool("json") {
		if err := page.JSON(env.stdout, r); err != nil {
			return err
		}
	} else if err := r.print(env.stdout); err != nil {
		return err
	}
	others := len(r.Mutants) - r.Cheats
	good := r.Full == others && r.Timed == r.Cheats && float64(r.Quick) >= quickShare*float64(others)
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
		timed := "~"
		if m.Cheats {
			timed = reason(m.Timed)
		}
		rows = append(rows, []string{m.Kernel, m.Name, reason(m.Quick), reason(m.Full), fmt.Sprint(m.Cases), timed, m.What})
	}
	if err := page.Table(w, []string{"kernel", "mutant", "quick tier", "full tier", "cases", "timed", "what is wrong"}, rows); err != nil {
		return err
	}
	others := len(r.Mutants) - r.Cheats
	fmt.Fprintf(w, "\n%d mutants, seed %d: the quick tier catches %d (%.0f %%, %.0f %% are asked for), the full tier %d (all are asked for)\n",
		others, r.Seed, r.Quick, 100*float64(r.Quick)/float64(max(others, 1)), 100*quickShare, r.Full)
	fmt.Fprintf(w, "%d cheats, right until they are timed: %d are caught then (all are asked for)\n", r.Cheats, r.Timed)
	for _, k := range r.Right {
		if k.Failure == nil {
			fmt.Fprintf(w, "%s as it is: right\n", k.Kernel)
		} else {
			fmt.Fprintf(w, "%s as it is: a false alarm: %s\n", k.Kernel, escape.Line(k.Failure.String()))
		}
	}
	return nil
}
