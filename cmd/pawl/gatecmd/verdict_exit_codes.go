package gatecmd

import (
	"pawl/cmd/pawl/console"
	"pawl/gate/reporting"
	"pawl/studies"
)

// gateCode is the exit code for the report of a gate: 0 says that no regression was
// shown. A report of a run that did not come to its end is no answer, whatever stands in
// it.
func gateCode(r *reporting.Report) int {
	switch {
	case !r.Finished():
		return console.ExitMachinery
	case r.Failed():
		return console.ExitNo
	case r.Decided():
		return console.ExitOK
	}
	return console.ExitNothing
}

// compareCode is the exit code for compared files: there 0 says that performance was
// shown to be kept or improved.
func compareCode(r *reporting.Report) int {
	switch {
	case r.Failed():
		return console.ExitNo
	case r.Passed():
		return console.ExitOK
	}
	return console.ExitNothing
}

// winnerCode is the exit code for a point of a study, as for any gate.
func winnerCode(s studies.Standing, strict bool) int {
	switch {
	case s == studies.Refused, s == studies.Undecided && strict:
		return console.ExitNo
	case s == studies.Undecided:
		return console.ExitNothing
	}
	return console.ExitOK
}
