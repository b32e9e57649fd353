package ci

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"pawl/gate/policy"
	"pawl/gate/ratchet"
	"pawl/kernels"
	"pawl/objective/devices"
)

// HostedRunner is the label of a machine that GitHub lends, where no other is named.
const HostedRunner = "ubuntu-24.04"

// Row is one job of a matrix.
type Row struct {
	Kernel   string `json:"kernel"`
	Workload string `json:"workload"`
	// Runner is the label of the machine.
	Runner string `json:"runner"`
	// Backend is there only where the policy chooses one.
	Backend string `json:"backend,omitempty"`
	// Budget is this row's share of a search, as pawl tune --budget takes it, and LockClocks the policy's clock.
	Budget     string `json:"budget,omitempty"`
	LockClocks int    `json:"lock_clocks,omitempty"`
}

// Rows is a matrix as GitHub reads it.
type Rows struct {
	Include []Row `json:"include"`
}

// Selection says which rows a matrix has. Whoever starts a run by hand writes it, so that
// everything in it is checked here and nothing in a workflow.
type Selection struct {
	// Kernel is one as the policy names it, Workload one of its manifest's; empty for all of
	// the policy.
	Kernel, Workload string
	// Runner is a label; empty means a hosted one.
	Runner string
	// Budget is shared among the rows; 0 for none.
	Budget time.Duration
}

var labelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// CheckRunner refuses what is no label of a runner.
func CheckRunner(label string) error {
	if !labelName.MatchString(label) {
		return fmt.Errorf("%q is no label of a runner: letters, digits, dots, dashes and underscores", label)
	}
	return nil
}

// Matrix lists a job for every kernel and workload of a policy. A kernel
// for which the policy names no workload has its first, as for the gate. A workload that the
// manifest does not have is an error: its job would fail on a machine that costs money.
func Matrix(file *policy.File, s Selection) (Rows, error) {
	rows := Rows{Include: []Row{}}
	s.Runner = cmp.Or(s.Runner, HostedRunner)
	if err := CheckRunner(s.Runner); err != nil {
		return rows, &devices.ArgumentError{Err: err}
	}
	if s.Workload != "" && s.Kernel == "" {
		return rows, &devices.ArgumentError{Err: errors.New("a workload is one of a kernel: name that, too")}
	}
	var names []string
	for _, k := range file.At(s.Workload, "").Kernels {
		if names = append(names, k.Name); s.Kernel != "" && s.Kernel != k.Name {
			continue
		}
		workloads, err := workloadsOf(k)
		if err != nil {
			return rows, err
		}
		for _, workload := range workloads {
			row := Row{
				Kernel: k.Name, Workload: workload, Runner: s.Runner, Backend: k.Backend, LockClocks: k.Policy.LockClocks,
			}
			if !slices.Contains(rows.Include, row) { // two points of one kernel are one job
				rows.Include = append(rows.Include, row)
			}
		}
	}
	if len(rows.Include) == 0 {
		return rows, devices.Argumentf("the policy has no kernel %q; it has %s", s.Kernel,
			strings.Join(names, ", "))
	}
	if s.Budget > 0 {
		for i := range rows.Include {
			rows.Include[i].Budget = (s.Budget / time.Duration(len(rows.Include))).Round(time.Second).String()
		}
	}
	return rows, nil
}

// Shards returns how many jobs gate a policy, and their matrix: the number of each, and the artifact with what it has
// found. A policy that cannot be read is one job's, which says so.
func Shards(path string) (jobs int, matrix string) {
	file, err := policy.Read(path)
	if err != nil {
		file = &policy.File{}
	}
	jobs = file.Jobs()
	rows := []string{`{"shard":1,"artifact":"results"}`}
	for job := 1; job <= jobs && jobs > 1; job++ {
		rows = append(rows[:job-1], fmt.Sprintf(`{"shard":%d,"artifact":%q}`, job, ratchet.ShardName(job)))
	}
	return jobs, `{"include":[` + strings.Join(rows, ",") + `]}`
}

// workloadsOf returns the names of the workloads that a policy means.
func workloadsOf(rule policy.Kernel) ([]string, error) {
	k, err := load(rule.Name, rule.Backend)
	if err != nil {
		return nil, err
	}
	if len(rule.Workloads) == 0 {
		return []string{k.Workloads[0].Name}, nil
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
