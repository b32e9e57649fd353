package studies

import (
	"context"
	"slices"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/search/trial"
)

// WorkloadFacts is a workload of a kernel: its name and its sizes.
type WorkloadFacts struct {
	Name string `json:"name"`
	Dims string `json:"dims"`
}

// NewWorkloadFacts describes the workloads of a kernel, in the order of its manifest.
func NewWorkloadFacts(k *kernels.Kernel) []WorkloadFacts {
	return collect.Each(k.Workloads, func(w kernels.Workload) WorkloadFacts {
		return WorkloadFacts{w.Name, w.Dims.String()}
	})
}

// Others returns the workloads of the kernel that are not the study's own.
func (s Study) Others() []WorkloadFacts {
	return slices.DeleteFunc(slices.Clone(s.Workloads), func(w WorkloadFacts) bool { return w.Name == s.Workload })
}

// MeasuredAcross records a round on another workload than the study's.
func (r *Recorder) MeasuredAcross(workload string, round trial.Round) error {
	row := rowOf("across", r.study, workload, round.Number, round.Point.String())
	err := r.store.createAt(context.Background(), r.study, row,
		append(outcomeColumns(&round.Outcome, &round.OrderSeed), column{"run", &round.Run}))
	return doing(err, "recording round %d on workload %s", round.Number, workload)
}

// Across returns the rounds of a study on other workloads than its own, by workload, those of all runs.
func (s *Store) Across(ctx context.Context, study int64) (map[string][]trial.Round, error) {
	type round struct {
		trial.Round
		workload string
	}
	all, err := readAll(ctx, s, study, "across", "ORDER BY workload, number, point", func(r *round) columns {
		return append(outcomeColumns(&r.Outcome, &r.OrderSeed),
			columns{{"workload", &r.workload}, {"run", &r.Run}, {"number", &r.Number}, {"point", asText{&r.Point}}}...)
	})
	rounds := map[string][]trial.Round{}
	for _, r := range all {
		r.Phase = trial.Across
		rounds[r.workload] = append(rounds[r.workload], r.Round)
	}
	return rounds, err
}
