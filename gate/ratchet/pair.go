package ratchet

import (
	"context"

	"pawl/gate"
	"pawl/objective/devices"
)

// ComparePair compares two configurations of one kernel, interleaved with an A/A control.
// Both have passed [devices.Bench.Verify].
func ComparePair(ctx context.Context, base, candidate *devices.Configuration, p gate.Policy,
	o gate.Options) (gate.Comparison, error) {
	measurer := newArms(base, candidate)
	o.Samples = samplesOf(base, o.Samples)
	compared, err := gate.Compare(ctx, measurer, p, o)
	return compared.WithConditions(measurer.samples, measurer.conditions), err
}
