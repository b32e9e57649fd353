package ratchet

import (
	"reflect"
	"slices"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/reporting"
)

// mayMove reports whether a configuration's candidate counts for the baseline, if nothing in
// the run fails: a confirmed gain does, and what there was no baseline for. A run that is
// compared with a base branch moves nothing, nor does a dry one. A person moves the baseline
// otherwise: see [Acceptance].
func (r *run) mayMove(result reporting.Result) bool {
	if r.Base != "" || r.DryRun {
		return false
	}
	return confirmedGain(result) || result.Verdict == gate.New
}

// confirmedGain reports whether a candidate is faster than its baseline in rounds of both:
// stored samples move nothing, because times of different days are not comparable.
func confirmedGain(result reporting.Result) bool {
	return result.Verdict == gate.Improvement && result.Method == gate.Interleaved
}

// moveBaseline makes new configurations the baseline and notes gains, which move it when a second
// build has shown them, in the file as it is now: other gates may have moved others meanwhile. Where
// another one moved the same, its entry stays, because this run has not been compared with it.
func (r *run) moveBaseline() error {
	if len(r.moving)+len(r.lost) == 0 || r.Shard > 0 || r.report.Failed() ||
		r.Join != "" && !r.report.Finished() {
		return nil
	}
	overtaken, moved := map[baseline.Key]bool{}, map[baseline.Key]bool{}
	err := baseline.Update(r.Baseline, func(now *baseline.File) error {
		for _, e := range r.moving {
			was, _ := r.file.Find(e.Key)
			is, _ := now.Find(e.Key)
			if overtaken[e.Key] = !reflect.DeepEqual(was, is); overtaken[e.Key] {
				continue
			}
			if moved[e.Key] = e.Gain == 0 || now.Gained(e); e.Gain == 0 {
				now.Put(e)
			}
		}
		for _, key := range r.lost {
			now.Lost(key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Results that were not compared with the present baseline cannot be accepted.
	r.current.Entries = slices.DeleteFunc(r.current.Entries, func(b baseline.Baseline) bool { return overtaken[b.Key] })
	for i := range r.report.Results {
		result := &r.report.Results[i]
		late, known := overtaken[result.Key]
		switch {
		case late:
			result.Notes = append(result.Notes,
				"another run moved this baseline in the meantime, and its entry stays; run the gate again to compare with it")
		case moved[result.Key]:
			result.Moved, r.report.Updated = true, true
		case known:
			result.Notes = append(result.Notes,
				"provisional: the baseline moves when a later build of the kernel holds this gain")
		}
	}
	return nil
}
