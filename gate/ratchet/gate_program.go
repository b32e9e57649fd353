package ratchet

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/policy"
	"pawl/gate/program"
	"pawl/gate/reporting"
	"pawl/internal/collect"
)

// programs compares the policy's programs with the base's, each as the policy there has it. The base's limits count.
func (r *run) programs(ctx context.Context) error {
	if r.Shard > 1 || len(r.Only.Kernels) > 0 || r.Only.Workload+r.Only.At != "" {
		return nil // another job has them, or nobody has asked for them
	}
	if r.base == nil {
		for _, p := range r.Policy.Programs {
			r.warn(fmt.Sprintf("program %s was not compared: there is no stored baseline of a program, and --base COMMIT "+
				"names the commit to compare with", p.Name))
		}
		return nil
	}
	named := func(name string) func(policy.Program) bool {
		return func(p policy.Program) bool { return p.Name == name }
	}
	for _, p := range r.Policy.Programs {
		before, known := collect.First(r.base.programs, named(p.Name))
		if !known {
			before = p
		}
		if !reflect.DeepEqual(before.Policy, p.Policy) || fmt.Sprint(before.Rows) != fmt.Sprint(p.Rows) {
			r.warn(fmt.Sprintf("%s of this branch has other limits for program %s than %s, whose limits count", r.PolicyFile,
				p.Name, r.Base))
		}
		if err := r.program(ctx, p, before); err != nil {
			return err
		}
	}
	for _, before := range r.base.programs {
		if _, there := collect.First(r.Policy.Programs, named(before.Name)); !there {
			r.found(reporting.Result{Key: baseline.Key{Kernel: before.Name}, Policy: before.Policy,
				Comparison: gate.Comparison{Decision: gate.Decide(gate.Vanished, "the base gates this program")}})
		}
	}
	return nil
}

// program compares a program with the base's. Rows that moved are results of their own, and all others one.
func (r *run) program(ctx context.Context, p, before policy.Program) error {
	side := func(p policy.Program, folder string) program.Side {
		s := program.Side{Folder: folder, Line: program.Shell(p.Line)}
		if p.Build != "" {
			s.Build = program.Shell(p.Build)
		}
		return s
	}
	compared, err := program.Compare(ctx, program.Options{
		Name: p.Name, Candidate: side(p, ""), Rows: before.Rows, Rounds: before.Rounds, Within: before.Within,
		Baseline: side(before, filepath.Join(r.base.folder, "files", r.base.here)), Seed: r.Seed, Policy: before.Policy,
		Observe: func(round, of int) {
			if r.Observe != nil {
				r.Observe(p.Name, "", round, of)
			}
		},
	})
	if err != nil {
		return err
	}
	key := func(row string) baseline.Key { return baseline.Key{Kernel: p.Name, Workload: row} }
	for _, row := range compared.With(gate.Regression, gate.Vanished, gate.Improvement, gate.New) {
		r.found(reporting.Result{Key: key(row.Name), Baseline: row.Baseline, Current: row.Current,
			Comparison: row.Comparison, Policy: before.Policy})
	}
	rest := compared.Decision
	if undecided := compared.With(gate.Inconclusive); len(undecided) > 0 {
		rest = gate.Decide(gate.Inconclusive, "%d of %d rows could not be decided; the first is %s: %s", len(undecided),
			len(compared.Rows), undecided[0].Name, undecided[0].Reason)
	} else if compared.Rounds > 0 && rest.Verdict != gate.Wrong {
		rest = gate.Decide(gate.NoDifference, "%s", compared.SummaryLine())
	}
	r.found(reporting.Result{Key: key("all rows"), Policy: before.Policy, Seconds: compared.Took.Seconds(),
		Comparison: gate.Comparison{Decision: rest, Method: gate.Interleaved, OrderSeed: compared.OrderSeed,
			Notes: compared.Notes}})
	return nil
}

// found adds a result that has no baseline in a file.
func (r *run) found(result reporting.Result) {
	r.report.Results = append(r.report.Results, result)
	if r.Observer != nil {
		r.Observer.Finished(result)
	}
}
