package studycmd

import (
	"strings"
	"testing"

	"pawl/objective/devices"
	"pawl/studies/tune"
)

// Where a workload has no winner, nothing says that each has one.
func TestNextAfterSeveralWorkloads(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kernel, workloads string
		unconfirmed       []string
		want              string
	}{
		"all": {"scale", tune.AllWorkloads, nil,
			"Next, the few points that are worth shipping: pawl dispatch scale\n"},
		"some": {"", "tall,deep", nil,
			"Next, the few points that are worth shipping: pawl dispatch --workload tall,deep\n"},
		"unconfirmed": {"my scale", tune.AllWorkloads, []string{"tall", "deep"},
			"No winner is confirmed for tall, deep. The page of each names the command that measures longer.\n"},
	} {
		var out strings.Builder
		var o tuneOptions
		o.asked.Kernel, o.Backend, o.Stdout = test.kernel, devices.Auto, &out
		o.Workload = test.workloads
		o.printNext(test.unconfirmed)
		if out.String() != test.want {
			t.Errorf("%s: got %q, want %q", name, out.String(), test.want)
		}
	}
}
