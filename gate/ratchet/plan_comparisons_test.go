package ratchet

import (
	"strings"
	"testing"

	"pawl/gate/policy"
	"pawl/internal/collect"
)

// Every comparison is one job's, and no job is without one.
func TestDeal(t *testing.T) {
	for shards, want := range map[string]string{
		"": "a/x a/y b c/x", "shards: 1\n": "a/x a/y b c/x",
		"shards: 3\n":  "a/x c/x | a/y | b",
		"shards: 99\n": "a/x | a/y | b | c/x",
	} {
		f, err := policy.Parse("p", []byte(shards+
			"kernels: [{kernel: a, workloads: [x, y]}, {kernel: b}, {kernel: c, workloads: [x]}]"))
		if err != nil {
			t.Fatal(err)
		}
		r := &run{Options: Options{Policy: f}}
		all := r.plan(t.Context())
		var jobs []string
		for job := 1; job <= f.Jobs(); job++ {
			names := collect.Each(deal(all, job, f.Jobs()), func(p planned) string {
				return strings.Join(append([]string{p.Name}, p.Workloads...), "/")
			})
			jobs = append(jobs, strings.Join(names, " "))
		}
		if got := strings.Join(jobs, " | "); got != want {
			t.Errorf("%q: %s, want %s", shards, got, want)
		}
	}
}
