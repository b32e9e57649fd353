package ratchet

import (
	"context"
	"fmt"
	"strings"

	"pawl/gate"
	"pawl/objective/devices"
)

// PlanPower checks a configuration, measures it against itself and works out what
// comparisons by a policy can see of it on this machine.
func PlanPower(ctx context.Context, c *devices.Configuration, p gate.Policy, o gate.PowerOptions) (gate.Power, error) {
	failure, err := c.Prepared.Failure, error(nil)
	if failure == nil {
		failure, err = c.Verify(ctx, c.Prepared)
	}
	if failure != nil {
		err = fmt.Errorf("kernel %s at %s: %s", c.Kernel.Name, c.Prepared.Point, failure)
	}
	if err != nil {
		return gate.Power{}, err
	}
	measurer := newArms(c, c)
	o.Samples = samplesOf(c, o.Samples)
	result, err := gate.PlanPower(ctx, measurer, p, o)
	if others := measurer.conditions.Join(); others != nil && others.Disturbed {
		result.Notes = append(result.Notes,
			"others computed on the device meanwhile, so plan again without them: "+strings.Join(others.OtherProcesses, "; "))
	}
	return result, err
}
