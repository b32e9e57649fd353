package tune

import (
	"context"
	"fmt"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
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

// memories translates what earlier studies have measured into this study's space, and
// says which of them the model follows: see sampler.Remember.
func (r *run) memories(study studies.Study, earlier []pastStudy) (memories []sampler.Memory, followed []pastStudy) {
	for _, e := range earlier {
		memory := sampler.Remember(r.pool.Space(), study.Environment.Device, e.Environment.Device, sampler.TimedOf(e.trials))
		memories = append(memories, memory)
		if len(memory.Points) >= sampler.Defaults().GP.Earlier {
			followed = append(followed, e)
		}
	}
	return memories, followed
}

// remembrance says what a new study takes over from earlier ones, empty for nothing.
func remembrance(study studies.Study, followed []pastStudy) string {
	var parts []string
	if n := len(study.First); n > 0 {
		parts = append(parts, fmt.Sprintf("beginning with %s that earlier studies found good", page.Count(n, "point")))
	}
	if len(followed) > 0 && sampler.Learns(study.Sampler) {
		var names []string
		for _, e := range followed {
			name := fmt.Sprintf("study %d (%s", e.ID, escape.Line(e.Workload))
			if e.Environment.Device != study.Environment.Device {
				name += " on " + escape.Line(e.Environment.Device)
			}
			names = append(names, name+")")
		}
		parts = append(parts,
			fmt.Sprintf("following the model of %s as long as that finds better points", strings.Join(names, ", ")))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + " (--ignore-earlier forgets them)"
}
