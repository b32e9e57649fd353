package objective

import (
	"errors"
	"fmt"
	"time"

	"pawl/internal/process"
	"pawl/objective/worker"
)

// CompileFailure tells what a compiler's error says about the point from what
// it says about the machinery: exactly one of the results is set for an error.
func CompileFailure(err error, allowed time.Duration) (*Failure, error) {
	var refused *worker.Refusal
	switch {
	case errors.As(err, &refused) && refused.Unfit:
		return Unfit("%s", refused), nil
	case refused != nil:
		return &Failure{Stage: Compile, Reason: CompileError, Detail: refused.Error()}, nil
	case errors.Is(err, process.ErrTime):
		return &Failure{Stage: Compile, Reason: CompileTimeout, Detail: fmt.Sprintf("not finished after %v", allowed)}, nil
	}
	return nil, err
}
