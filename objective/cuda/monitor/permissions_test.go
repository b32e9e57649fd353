package monitor

import (
	"strings"
	"testing"
)

func TestCounters(t *testing.T) {
	const before, after = "ResmanDebugLevel: 4294967295\nRmLogonRC: 1\n", "TemporaryFilePath: \"\"\n"
	for name, test := range map[string]struct {
		parameters    string
		administrator bool
		allowed       bool
		reason        string
	}{
		"open to all": {before + "RmProfilingAdminOnly: 0\n" + after, false, true, "every user"},
		"restricted": {before + "RmProfilingAdminOnly: 1\n" + after, false, false,
			"NVreg_RestrictProfilingToAdminUsers=0"},
		"restricted, root":   {before + "RmProfilingAdminOnly: 1\n" + after, true, true, "CAP_SYS_ADMIN"},
		"last line":          {before + "RmProfilingAdminOnly: 1", false, false, "only administrators"},
		"not said":           {before + after, false, false, "does not say"},
		"not said, root":     {before, true, true, "CAP_SYS_ADMIN"},
		"another's value":    {"XRmProfilingAdminOnly: 0\n", false, false, "does not say"},
		"a value of its own": {"RmProfilingAdminOnly: 2\n", false, false, "only administrators"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Counters(test.parameters, test.administrator)
			if got.Allowed != test.allowed || !strings.Contains(got.Reason, test.reason) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestAdministrator(t *testing.T) {
	for name, test := range map[string]struct {
		status string
		want   bool
	}{
		"root":              {"Name:\tpawl\nCapPrm:\t0\nCapEff:\t000001ffffffffff\n", true},
		"root in container": {"CapEff:\t00000000a80425fb\n", false}, // a container runtime's usual set
		"with SYS_ADMIN":    {"CapEff:\t00000000a82425fb\n", true},
		"user":              {"CapPrm:\t000001ffffffffff\nCapEff:\t0000000000000000\n", false},
		"garbage":           {"CapEff:\tall\n", false},
		"nothing":           {"", false},
	} {
		if got := administrator(test.status); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
