package ratchet

import (
	"errors"
	"fmt"
	"path/filepath"

	"pawl/gate/baseline"
	"pawl/gate/reporting"
)

// ShardName is the folder with the results of a shard, from 1 on.
func ShardName(job int) string { return fmt.Sprintf("results-%d", job) }

// join takes the outcomes of all configurations from the shards, as [deal] has dealt them out. What is missing
// leaves the report unfinished, and the others stand in it.
func (r *run) join() (failed error) {
	jobs := r.Policy.Jobs()
	for job := 1; job <= jobs; job++ {
		report, measured, err := r.shard(filepath.Join(r.Join, ShardName(job)))
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("shard %d of %d has left no result: %w", job, jobs, err))
			continue
		}
		r.report.Commit = report.Commit
		for _, sentence := range report.Warnings {
			r.warn(sentence)
		}
		for _, result := range report.Results {
			entry, _ := measured.Find(result.Key)
			failed = errors.Join(failed, r.add(outcome{result, entry}))
		}
	}
	return failed
}

// shard reads what a job has left, which must have compared with the same base.
func (r *run) shard(folder string) (*reporting.Report, *baseline.File, error) {
	report, err := reporting.Read(filepath.Join(folder, reporting.JSONName))
	switch {
	case err != nil:
		return nil, nil, err
	case report.Problem != "":
		return nil, nil, errors.New(report.Problem)
	case report.Base != r.report.Base:
		return nil, nil, fmt.Errorf("it was compared with %.12s, and this run with %.12s", report.Base, r.report.Base)
	}
	measured, err := readCurrent(filepath.Join(folder, CurrentName))
	return report, measured, err
}
