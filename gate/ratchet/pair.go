package ratchet

import (
	"context"

	"pawl/gate"
)

// ComparePair compares two configurations of one kernel, interleaved with an A/A control.
// Both have passed [Configuration.Verify].
func ComparePair(ctx context.Context, base, candidate *Configuration, p gate.Policy,
	o gate.Options) (gate.Comparison, error) {
	measurer := newArms(base, candidate)
	o.Samples = base.samples(o.Samples)
	compared, err := gate.Compare(ctx, measurer, p, o)
	return compared.WithConditions(measurer.samples, measurer.conditions), err
}
