package search

import (
	"context"

	"pawl/space"
)

// findDead looks for parameters that never change the machine code: they cost
// trials and cannot help. Points that were compiled anyway count first; for a
// parameter that they say nothing about, neighbours of the default are compiled
// if there is time.
func (e *engine) findDead(ctx context.Context) error {
	binaries := e.binaries()
	if e.ended == Stopped || len(binaries) == 0 {
		return nil
	}
	for _, p := range e.study.pool.Space().Params() {
		alive, compared := changesCode(binaries, p.Name)
		for _, value := range p.Values {
			if alive || e.stopped() || (e.options.Budget > 0 && e.elapsed() > e.options.Budget) {
				break
			}
			differs, known, err := e.probe(ctx, binaries, p.Name, value)
			if err != nil {
				return err
			}
			alive, compared = differs, compared || known
		}
		if compared && !alive {
			e.dead = append(e.dead, p.Name)
		}
	}
	return nil
}

// binaries returns the machine code of every point that was compiled.
func (e *engine) binaries() map[space.Point]string {
	known := map[space.Point]string{}
	for _, t := range e.study.trials {
		if t.Told && t.Outcome.Binary != "" {
			known[t.Point] = t.Outcome.Binary
		}
	}
	for _, r := range e.rounds {
		if r.Outcome.Binary != "" {
			known[r.Point] = r.Outcome.Binary
		}
	}
	return known
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
// machine code differs; known is false where that cannot be told.
func (e *engine) probe(ctx context.Context, binaries map[space.Point]string, name string, value space.Value) (differs, known bool, err error) {
	initial := e.study.pool.Space().Default()
	before, there := binaries[initial]
	changed, err := initial.With(name, value)
	if err != nil || !there || changed == initial {
		return false, false, err
	}
	if _, err := e.study.pool.Index(changed); err != nil {
		return false, false, nil // not a valid point
	}
	prepared, err := e.evaluator.Prepare(ctx, changed)
	if err != nil {
		return false, false, err
	}
	after := prepared.Binary.Digest
	return after != "" && after != before, after != "", nil
}
