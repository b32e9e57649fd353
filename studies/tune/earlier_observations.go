package tune

import (
	"fmt"
	"strings"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/search/sampler"
	"pawl/studies"
)

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
