package tune

import (
	"testing"

	"pawl/internal/process"
)

func TestABusyMachineIsNamed(t *testing.T) {
	for load, want := range map[*process.Load]string{
		{Cores: 0.4, Of: 2, Programs: []string{"go"}}: "",
		{Cores: 1.5, Of: 2, Programs: []string{"cc1", "go"}}: "the machine is busy: other programs (cc1, go) use 1.5 of 2 " +
			"cores, so that times are noisy and intervals wide; close them, or tune when it is quiet",
		{Cores: 9, Of: 16}: "the machine is busy: other programs use 9.0 of 16 cores, so that times are noisy and " +
			"intervals wide; close them, or tune when it is quiet",
	} {
		if got := busyText(*load); got != want {
			t.Errorf("%+v: %s", *load, got)
		}
	}
}
