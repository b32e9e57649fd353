package simulate

import "pawl/search/sampler"

// entrant is one row of a race: a sampler, and what it is given.
type entrant struct {
	// label names it in the report.
	label   string
	sampler string
	// warm is given what an earlier search of another space has seen.
	warm bool
	// thrifty lets the cost of a point count.
	thrifty bool
}

// entrants returns the samplers, each once as it is and, where the options ask
// what help is worth, once with it.
func (o Options) entrants() []entrant {
	var list []entrant
	for _, name := range o.Samplers {
		list = append(list, entrant{label: name, sampler: name})
		if o.Warm != "" {
			list = append(list, entrant{label: name + " warm", sampler: name, warm: true})
		}
		if o.Clock {
			list = append(list, entrant{label: name + " thrifty", sampler: name, thrifty: true})
		}
	}
	return list
}

// check fails for a sampler that does not exist.
func (e entrant) check(s *Recorded) error {
	_, err := sampler.New(e.sampler, s.space.Space(), sampler.Defaults())
	return err
}
