package ci

import (
	"fmt"
	"slices"

	"pawl/gate/policy"
	"pawl/kernels"
	"pawl/objective/devices"
)

// HostedRunner is the label of a machine that GitHub lends, where no other is named.
const HostedRunner = "ubuntu-24.04"

// mostJobs is how many jobs a matrix of GitHub may have.
const mostJobs = 256

// Row is one job of a matrix.
type Row struct {
	Kernel   string `json:"kernel"`
	Workload string `json:"workload"`
	// Runner is the label of the machine.
	Runner string `json:"runner"`
	// Backend is there only where the policy chooses one.
	Backend string `json:"backend,omitempty"`
}

// Rows is a matrix as GitHub reads it.
type Rows struct {
	Include []Row `json:"include"`
}

// Matrix lists a job for every kernel and workload of a policy on every runner. A kernel
// for which the policy names no workload has its first, as for the gate, or with all every
// one of its manifest. A workload that the manifest does not have is an error: its
// job would fail on a machine that costs money.
func Matrix(file *policy.File, runners []string, all bool) (Rows, error) {
	if len(runners) == 0 {
		runners = []string{HostedRunner}
	}
	jobs := Rows{Include: []Row{}}
	for _, k := range file.Kernels {
		workloads, err := workloadsOf(k, all)
		if err != nil {
			return jobs, err
		}
		for _, workload := range workloads {
			for _, runner := range runners {
				row := Row{k.Name, workload, runner, k.Backend}
				if !slices.Contains(jobs.Include, row) { // two points of one kernel are one job
					jobs.Include = append(jobs.Include, row)
				}
			}
		}
	}
	if len(jobs.Include) > mostJobs {
		return jobs,
			&devices.ArgumentError{Err: fmt.Errorf("%d jobs, and a matrix has at most %d: name fewer workloads or runners",
				len(jobs.Include), mostJobs)}
	}
	return jobs, nil
}

// workloadsOf returns the names of the workloads that a policy means.
func workloadsOf(rule policy.Kernel, all bool) ([]string, error) {
	k, err := load(rule.Name, rule.Backend)
	if err != nil {
		return nil, err
	}
	if all || len(rule.Workloads) == 0 {
		var names []string
		for _, w := range k.Workloads {
			names = append(names, w.Name)
		}
		if !all {
			names = names[:1]
		}
		return names, nil
	}
	for _, name := range rule.Workloads {
		if _, err := k.Workload(name); err != nil {
			return nil, fmt.Errorf("kernel %s: %w", rule.Name, err)
		}
	}
	return rule.Workloads, nil
}

// load returns a kernel for a backend, or for the first that it has a source for.
func load(name, backend string) (*kernels.Kernel, error) {
	if backend != "" {
		return kernels.Load(name, backend)
	}
	return kernels.LoadAny(name, "")
}
