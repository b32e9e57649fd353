package rivals

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"pawl/internal/process"
	"pawl/kernels"
)

// keptErrors is how much of what a rival says to standard error is kept, from the end.
const keptErrors = 4 << 10

// missingError says why a rival has no times. It is no failure of pawl's.
type missingError struct{ reason string }

func (e *missingError) Error() string { return e.reason }

// start begins a rival in the kernel's folder; modules holds what Python may import. The error is a *missingError
// where there is no such program.
func start(r kernels.Rival, folder, modules string) (*process.Process, error) {
	p, err := process.Start(process.Command{
		Line: r.Command, Dir: folder, Dialog: process.OnStandard, Contained: true,
		Environment: append(process.Environment(os.Environ()), "PYTHONPATH="+modules, "PYTHONDONTWRITEBYTECODE=1"),
		Stderr:      &process.Output{Keep: keptErrors, Last: true},
	})
	if err != nil {
		return nil, &missingError{fmt.Sprintf("cannot be started: %v", err)}
	}
	return p, nil
}

// ask sends a request and waits for the answer. A *missingError says that the rival has none;
// it is not asked again then.
func ask(ctx context.Context, rival *process.Process, q request, patience time.Duration) (none response, err error) {
	line, err := json.Marshal(q)
	if err != nil {
		return none, err
	}
	bounded, cancel := process.Allow(ctx, patience)
	defer cancel()
	answer, err := rival.Ask(bounded, line)
	switch {
	case ctx.Err() != nil:
		return none, ctx.Err()
	case err != nil:
		return none, &missingError{err.Error()}
	}
	return readResponse(answer, q.Samples)
}

// readResponse reads an answer. Anything that is no list of times is no answer.
func readResponse(line []byte, wanted int) (answer response, err error) {
	if err := json.Unmarshal(line, &answer); err != nil {
		return answer, &missingError{fmt.Sprintf("answered what is no line of JSON with samples_ms: %v", err)}
	}
	if answer.Missing != "" {
		return answer, &missingError{answer.Missing}
	}
	if len(answer.Samples) < wanted {
		return answer, &missingError{fmt.Sprintf("answered with %d samples, %d were asked for", len(answer.Samples), wanted)}
	}
	for _, s := range answer.Samples {
		if !(s > 0) || math.IsInf(s, 0) {
			return answer, &missingError{fmt.Sprintf("answered with %g ms, which is no time", s)}
		}
	}
	return answer, nil
}
