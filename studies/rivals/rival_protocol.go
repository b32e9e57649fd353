package rivals

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"pawl/internal/process"
	"pawl/kernels"
	"pawl/kernels/arguments"
)

// request is what a rival is asked, one line of JSON on its standard input. It answers each
// with one line on its standard output.
type request struct {
	// Folder holds the inputs, and takes the outputs.
	Folder    string           `json:"folder"`
	Workload  string           `json:"workload"`
	Sizes     map[string]int64 `json:"sizes"`
	Arguments []argument       `json:"arguments"`
	// Samples is how many times are wanted.
	Samples int `json:"samples"`
	// Caches says what a timed launch finds in a GPU's caches: cold means other buffers than
	// the launches before, more of them than the last-level cache holds.
	Caches string `json:"caches"`
	// Rest is the pause before each sample, so that no sample depends on the heat of the one
	// before.
	Rest float64 `json:"rest_ms"`
	// Outputs asks for what the timed launches have computed, in the files of the arguments
	// that are outputs.
	Outputs bool `json:"outputs"`
}

// argument is an argument of the kernel, or a field of one: a buffer in a file, or a scalar.
type argument struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Shape and File are a buffer's: raw elements in the order of the shape, the last
	// dimension first in memory.
	Shape []int64 `json:"shape,omitempty"`
	File  string  `json:"file,omitempty"`
	Out   bool    `json:"out,omitempty"`
	Value any     `json:"value,omitempty"`
}

// response is a rival's answer: times of single launches, or why there are none.
type response struct {
	Samples []float64 `json:"samples_ms"`
	// Limit says that it computes nothing: it shows what nobody can be faster than, a copy of
	// the same bytes say.
	Limit bool `json:"limit"`
	// Missing says why the rival cannot do this here.
	Missing string `json:"missing"`
}

// parts are bindings with the fields of structures in their place: rivals are given numbers only, and a rival that
// works on arrays has no structures.
func parts(bindings []arguments.Binding) (all []arguments.Binding) {
	for _, b := range bindings {
		if b.Fields == nil {
			all = append(all, b)
		}
		for _, f := range b.Fields {
			all = append(all, f.Binding)
		}
	}
	return all
}

// newArguments describes a kernel's arguments for a case.
func newArguments(bindings []arguments.Binding) (all []argument) {
	for _, b := range parts(bindings) {
		if b.Scratch { // a rival has its own
			continue
		}
		a := argument{Name: b.Name, Type: b.Type, Out: b.Out}
		switch {
		case b.IsBuffer():
			a.File, a.Shape = fileOf(b), b.Shape()
		case b.Element().Float:
			a.Value = b.Value
		default:
			a.Value = b.Integer
		}
		all = append(all, a)
	}
	return all
}

// fileOf is the name of the file that holds a buffer.
func fileOf(b arguments.Binding) string { return b.Name + ".bin" }

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

// leave takes a side out where an error says that it has no times. Other errors stay.
func (s *side) leave(err error) error {
	missing, ok := errors.AsType[*missingError](err)
	if !ok {
		return err
	}
	s.out(cmp.Or(missing.reason, "no reason given"))
	return nil
}
