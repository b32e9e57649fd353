package setup

import (
	"fmt"
	"strings"

	"pawl/gate/baseline"
	"pawl/gate/ci/runner"
)

// next is what is left to do after the files are written.
func next(o Options, r repository) []string {
	var steps []string
	if len(r.kernels) == 0 {
		steps = append(steps,
			"gate.yaml gates an example of pawl's own, because no folder with a readable kernel.yaml was found: name your "+
				"kernels there.")
	}
	if len(r.broken) > 0 {
		steps = append(steps,
			fmt.Sprintf("not in gate.yaml, because the manifest cannot be read: %s (pawl space FOLDER says why).",
				strings.Join(r.broken, ", ")))
	}
	steps = append(steps, "run pawl gate here once, to see that it works.", "commit the files and open a pull request.")
	if o.Runner == "" {
		steps = append(steps,
			"for a GPU: register a runner and set the repository's variable PAWL_RUNNER to its label; until then the "+
				"processor of a hosted runner is gated. "+runnerPath+" has every step.")
	} else {
		steps = append(steps, fmt.Sprintf("register a runner with the label %s. %s has every step.", o.Runner, runnerPath))
	}
	if r.sleeps {
		steps = append(steps,
			"set the secret PAWL_CLOUD to what the commands of "+runner.FileName+" need; they find it in their environment.")
	}
	return append(steps,
		"in the settings of the repository: require the check named verdict for "+r.branch+
			", allow workflows to create pull requests, and require approval for all "+
			"external contributors before their workflows run.",
		"after the merge the first run on "+r.branch+" keeps the baseline on "+baseline.Branch+": from then on slower fails.")
}
