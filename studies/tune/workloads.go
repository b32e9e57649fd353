package tune

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"pawl/kernels"
	"pawl/objective/devices"
)

// AllWorkloads asks for every workload of a kernel.
const AllWorkloads = "all"

// Workloads returns the workloads that a text asks for: one by its name, several separated by
// commas, or all; sizes (S=384) and ranges of them (S=256..4096) are workloads too. A workload whose name is the whole
// text is meant where there is one. An unknown name is a *devices.ArgumentError.
func Workloads(ctx context.Context, tools devices.Options, kernel, backend, asked string) ([]string, error) {
	tools.Absent = true // opening it says what is missing
	k, err := devices.Here(tools).Load(ctx, cmp.Or(kernel, DefaultKernel), backend)
	if err != nil {
		return nil, err
	}
	if w, err := k.Workload(asked); err == nil && asked != "" {
		return []string{w.Name}, nil
	}
	var names []string
	if asked == AllWorkloads {
		for _, w := range k.Workloads {
			names = append(names, w.Name)
		}
		return names, nil
	}
	for name := range strings.SplitSeq(asked, ",") {
		if kernels.IsRange(name) {
			drawn, err := k.Range(name)
			if err != nil {
				return nil, &devices.ArgumentError{Err: err}
			}
			for _, w := range drawn {
				if !slices.Contains(names, w.Name) {
					names = append(names, w.Name)
				}
			}
			continue
		}
		target, err := devices.NewTarget(k, strings.TrimSpace(name))
		switch {
		case err != nil:
			return nil, err
		case strings.TrimSpace(name) == "":
			return nil, argumentError("--workload %q: an empty name; a list is written a,b,c", asked)
		case !slices.Contains(names, target.Workload.Name):
			names = append(names, target.Workload.Name)
		}
	}
	return names, nil
}
