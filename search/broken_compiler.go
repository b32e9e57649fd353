package search

import (
	"fmt"

	"pawl/objective"
	"pawl/search/trial"
)

// NothingCompilesError says that the compiler refused every point so far. The
// search ends then: a broken compiler would only burn the budget.
type NothingCompilesError struct {
	Tried int
	// First is the failure of the first point.
	First *objective.Failure
}

func (e *NothingCompilesError) Error() string {
	return fmt.Sprintf("none of the first %d points compiled; the first error was: %s", e.Tried, e.First.Detail)
}

// DefaultUnmetError says that the default breaks a requirement of the manifest: nothing could be compared with it.
type DefaultUnmetError struct{ Failure *objective.Failure }

func (e *DefaultUnmetError) Error() string {
	return "the default breaks a requirement: " + e.Failure.Detail
}

// compileAttempts is how many points must fail to compile, with none that
// compiles, before the compiler counts as broken.
const compileAttempts = 5

// compilerWorks fails once enough points have failed to compile and none has compiled.
func compilerWorks(trials []trial.Trial) error {
	var first *objective.Failure
	refused := 0
	for _, t := range trials {
		switch {
		case !t.Finished:
		case t.OK() || t.Outcome.Failure.Stage == objective.Fuzz || t.Outcome.Failure.Stage == objective.Bench:
			return nil
		case t.Outcome.Failure.Stage == objective.Compile:
			refused++
			if first == nil {
				first = t.Outcome.Failure
			}
		}
	}
	if refused < compileAttempts {
		return nil
	}
	return &NothingCompilesError{Tried: refused, First: first}
}
