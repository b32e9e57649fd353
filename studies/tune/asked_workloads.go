package tune

import (
	"cmp"
	"context"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/objective/devices"
)

// AllWorkloads asks for every workload of a kernel.
const AllWorkloads = "all"

// Workloads returns the workloads that a text asks for: one by its name, several separated by commas, or all; sizes
// (S=384), ranges of them (S=256..4096) and files of sizes that were missed (missed.jsonl) are workloads too. A
// workload whose name is the whole text is meant where there is one. An unknown name is a *devices.ArgumentError.
func Workloads(ctx context.Context, tools devices.Tools, kernel, backend, asked string) ([]string, error) {
	tools.Absent = true // opening it says what is missing
	k, err := devices.Here(tools).Load(ctx, cmp.Or(kernel, DefaultKernel), backend)
	if err != nil {
		return nil, err
	}
	if w, err := k.Workload(asked); err == nil && asked != "" {
		return []string{w.Name}, nil
	}
	var names []string
	for text := range strings.SplitSeq(asked, ",") {
		some, err := workloadsOf(k, strings.TrimSpace(text), tools.Notice)
		switch {
		case err != nil:
			return nil, err
		case strings.TrimSpace(text) == "":
			return nil, devices.Argumentf("--workload %q: an empty name; a list is written a,b,c", asked)
		}
		names = append(names, collect.Each(some, func(w kernels.Workload) string { return w.Name })...)
	}
	return collect.Distinct(names), nil
}

// SeveralWorkloads reports whether a text may ask for more than one workload.
func SeveralWorkloads(asked string) bool {
	return asked == AllWorkloads || strings.Contains(asked, ",") || kernels.IsRange(asked) || isMissed(asked)
}

// workloadsOf returns the workloads of one element of a list.
func workloadsOf(k *kernels.Kernel, text string, notice func(string)) ([]kernels.Workload, error) {
	switch {
	case text == AllWorkloads:
		return k.Workloads, nil
	case isMissed(text):
		return missed(k, text, notice)
	case kernels.IsRange(text):
		drawn, err := k.Range(text)
		if err != nil {
			return nil, &devices.ArgumentError{Err: err}
		}
		return drawn, nil
	}
	target, err := devices.NewTarget(k, text)
	return []kernels.Workload{target.Workload}, err
}
