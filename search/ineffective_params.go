package search

import (
	"context"

	"pawl/search/trial"
	"pawl/space"
)

func binaries(trials []trial.Trial, rounds []trial.Round) map[space.Point]string {
	known := map[space.Point]string{}
	for _, t := range trials {
		if t.Finished && t.Outcome.Binary != "" {
			known[t.Point] = t.Outcome.Binary
		}
	}
	for _, r := range rounds {
		if r.Outcome.Binary != "" {
			known[r.Point] = r.Outcome.Binary
		}
	}
	return known
}

// ineffectiveParams returns the parameters that never change the machine code: they cost
// trials and cannot help. Points that were compiled anyway count first; for a
// parameter that they say nothing about, neighbors of the default are compiled
// until it is enough.
func ineffectiveParams(ctx context.Context, pool *space.Pool, evaluator Evaluator, binaries map[space.Point]string,
	enough func() bool) ([]string, error) {
	var ineffective []string
	for _, p := range pool.Space().Params() {
		effective, compared := changesCode(binaries, p.Name)
		for _, value := range p.Values {
			if effective || enough() {
				break
			}
			differs, known, err := probe(ctx, pool, evaluator, binaries, p.Name, value)
			if err != nil {
				return ineffective, err
			}
			effective, compared = differs, compared || known
		}
		if compared && !effective {
			ineffective = append(ineffective, p.Name)
		}
	}
	return ineffective, nil
}

// changesCode compares the points that differ in one parameter only: whether any
// two have different machine code, and whether there were two at all.
func changesCode(binaries map[space.Point]string, name string) (changes, compared bool) {
	codes := map[space.Point]string{} // by what is left without the parameter
	for point, code := range binaries {
		rest := point.Without(name)
		if other, met := codes[rest]; met {
			compared = true
			if other != code {
				return true, true
			}
		}
		codes[rest] = code
	}
	return false, compared
}

// probe compiles the default with one value changed, and reports whether the
// machine code differs; known is false where nobody can say.
func probe(ctx context.Context, pool *space.Pool, evaluator Evaluator, binaries map[space.Point]string, name string,
	value space.Value) (differs, known bool, err error) {
	initial := pool.Space().Default()
	before, there := binaries[initial]
	changed, err := initial.With(name, value)
	if err != nil || !there || changed == initial {
		return false, false, err
	}
	if _, err := pool.Index(changed); err != nil {
		return false, false, nil // not a valid point
	}
	prepared, err := evaluator.Prepare(ctx, changed)
	if err != nil {
		return false, false, err
	}
	after := prepared.Binary.Digest
	return after != "" && after != before, after != "", nil
}
