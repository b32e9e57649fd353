package monitor

import "testing"

func TestReasons(t *testing.T) {
	for _, test := range []struct {
		reasons   Reasons
		text      string
		throttled bool
	}{
		{0, "", false},
		{0x1, "idle", false},
		{0x2, "applications clock setting", false},
		{0x4, "software power cap", false},
		{0x8, "hardware slowdown", true},
		{0x10, "sync boost", false},
		{0x20, "software thermal slowdown", true},
		{0x40, "hardware thermal slowdown", true},
		{0x80, "hardware power brake", true},
		{0x100, "display clock setting", false},
		{0x44, "software power cap, hardware thermal slowdown", true},
		{0x601, "idle, unknown reason 0x600", false},
	} {
		if test.reasons.String() != test.text || test.reasons.Throttled() != test.throttled {
			t.Errorf("%#x: %q, throttled %v", uint64(test.reasons), test.reasons, test.reasons.Throttled())
		}
	}
}
