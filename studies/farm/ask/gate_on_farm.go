package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"pawl/space"
	"pawl/studies/farm"
)

// Before makes everything that is asked go before searches. It is called first.
func (e *Evaluator) Before() { e.priority = farm.GatePriority }

// Side is a point that takes part in a comparison.
type Side struct {
	*Evaluator
	Point space.Point
}

// Hold gives one device to a comparison of several sides, which are compiled: nobody else
// measures there until it is done. The first side chooses the device and is who asks. If the
// device leaves the farm, or a file is evicted, the comparison begins again.
func Hold(ctx context.Context, sides []Side, task json.RawMessage) (json.RawMessage, error) {
	first := sides[0]
	var last error
	for range tries {
		answer, err := first.hold(ctx, sides, task)
		switch {
		case errors.As(err, new(*GoneError)):
			last = err
		case err != nil:
			return nil, err
		case answer.Lost:
			return nil, errors.New("every worker that was given the comparison died or gave it back")
		case answer.Missing != "":
			last = errors.New("the farm evicts files as fast as they are stored")
			for _, side := range sides {
				if err := side.restore(ctx, side.Point); err != nil {
					return nil, err
				}
			}
		default:
			return answer.Held, nil
		}
	}
	return nil, fmt.Errorf("comparing %s on the farm: %w", first.subject.Name, last)
}

func (e *Evaluator) hold(ctx context.Context, sides []Side, task json.RawMessage) (farm.Answer, error) {
	own, err := e.device(ctx)
	if err != nil {
		return farm.Answer{}, err
	}
	job := e.task(farm.Hold, sides[0].Point)
	job.Held = task
	for _, side := range sides {
		compiled, err := side.compilation(ctx, side.Point)
		if err != nil {
			return farm.Answer{}, err
		}
		job.Sides = append(job.Sides, farm.Side{Subject: side.subject, Point: side.Point.String(), Compiled: compiled})
	}
	return e.ask(ctx, farm.OwnQueue(*own), job, func(ctx context.Context) error { return e.there(ctx, own) })
}
