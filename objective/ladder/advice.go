package ladder

import (
	"pawl/objective"
	"pawl/objective/command"
	"pawl/objective/worker"
)

// advice is what to do about a failure: what its reason asks for, or what is said otherwise.
func advice(failure *objective.Failure, otherwise string) string {
	switch failure.Reason {
	case string(worker.Hung):
		return "does it end by itself? --run-timeout allows a slow one more time, and so does timeouts in the section of " +
			"a command"
	case string(command.NoMetric):
		return "have the program print each metric once, as a number, or mend its json or match in the manifest"
	case objective.NotScored:
		return "mend minimize or maximize in the manifest: a formula of numbers that were measured, above 0"
	case objective.Unmet:
		return "choose a default that keeps what require asks for, or ask for less"
	}
	return otherwise
}
