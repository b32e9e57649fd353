package tune

import (
	"context"

	"pawl/internal/collect"
	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// earlierStudies is how many earlier studies of a kernel a new one learns from.
const earlierStudies = 3

// pastStudy is an earlier study of the same kernel.
type pastStudy struct {
	studies.Study
	trials []trial.Trial
}

// earlier returns the latest studies of the same kernel before this one: of another
// workload, another device, or other sources. A study that is resumed finds the same
// ones again, unless one of them was itself resumed since.
func (r *run) earlier(ctx context.Context, study studies.Study) ([]pastStudy, error) {
	if r.Study.Cold {
		return nil, nil
	}
	all, err := r.store.List(ctx)
	if err != nil {
		return nil, err
	}
	var earlier []pastStudy
	for _, other := range all {
		later := study.ID != 0 && other.ID >= study.ID
		if later || other.Kernel != study.Kernel || other.Backend != study.Backend ||
			other.Environment.Objective.First() != study.Environment.Objective.First() || len(earlier) == earlierStudies {
			continue
		}
		past, err := r.store.Past(ctx, other.ID)
		if err != nil {
			return nil, err
		}
		earlier = append(earlier, pastStudy{other, past.Trials})
	}
	return earlier, nil
}

// first returns the points that earlier studies recommend: the warm start.
func (r *run) first(ctx context.Context, study studies.Study) ([]space.Point, error) {
	earlier, err := r.earlier(ctx, study)
	if err != nil {
		return nil, err
	}
	timed := collect.Each(earlier, func(past pastStudy) []sampler.Timed { return sampler.TimedOf(past.trials) })
	return sampler.Transfer(r.pool.Growing(), timed...), nil
}
