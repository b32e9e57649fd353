package tune

import (
	"context"
	"errors"

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
	var earlier []pastStudy
	err := r.store.EachLike(ctx, study.Kernel, study.Backend, func(other studies.Study) error {
		later := study.ID != 0 && other.ID >= study.ID
		if later || other.Environment.Objective.First() != study.Environment.Objective.First() {
			return nil
		}
		past, err := r.store.Past(ctx, other.ID)
		if errors.As(err, new(*studies.DamagedError)) {
			r.Tools.Notice(err.Error())
			return nil
		}
		if err != nil {
			return err
		}
		if earlier = append(earlier, pastStudy{other, past.Trials}); len(earlier) == earlierStudies {
			return studies.ErrEnough
		}
		return nil
	})
	return earlier, err
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
