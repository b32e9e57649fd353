package simulate

import (
	"context"
	"testing"
	"time"
)

// What tune takes an H200 for, counted by hand from the numbers in device.go.
func TestDeviceTime(t *testing.T) {
	recorded := 7 * time.Second
	for _, test := range []struct {
		name                    string
		device                  DeviceTime
		milliseconds, incumbent float64
		idle                    time.Duration
		want                    time.Duration
	}{
		{"the file's word", AsRecorded, 1, 0.1, 0, recorded},
		{"no word", "", 1, 0.1, 0, recorded},
		// Overhead 5, 9 launches of 0.05, 2 of warm-up, 5 samples of 1.
		{"short", AsTuned, 0.05, 0.05, 0, 12450 * time.Microsecond},
		{"short, in full", InFull, 0.05, 0.05, 0, 20450 * time.Microsecond},
		// Overhead 5, 6 launches of 2, one of warm-up, 5 samples of one launch.
		{"long", AsTuned, 2, 0, 0, 29 * time.Millisecond},
		{"long, in full", InFull, 2, 0, 0, 37 * time.Millisecond},
		{"long, after a rest", AsTuned, 2, 0, time.Second, 37 * time.Millisecond},
		// Overhead 2, a check's 2 launches and 3 more.
		{"hopeless", AsTuned, 2, 1.3, 0, 12 * time.Millisecond},
		{"behind", AsTuned, 2, 1.4, 0, 29 * time.Millisecond},
		{"hopeless, in full", InFull, 2, 1.3, 0, 37 * time.Millisecond},
	} {
		if got := test.device.of(recorded, test.milliseconds, test.incumbent, test.idle); got.Round(time.Microsecond) !=
			test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	if (DeviceTime("tuned").check()) == nil || AsTuned.check() != nil {
		t.Error("names are not checked")
	}
}

// One at a time, compiled in a second each: 59 ms for the first, whose launch takes 4 ms, a first look of 47 ms at
// one of 9 ms, and 26 ms for the optimum of 1 ms. In full the second takes 114 ms.
func TestHopelessPointsAreShort(t *testing.T) {
	record := line(t, 4, 9, 1).space.Record()
	for i := range record.Entries {
		record.Entries[i].Compile, record.Entries[i].Spent = time.Second, 2*time.Second
	}
	for device, want := range map[DeviceTime]time.Duration{
		AsRecorded: 6 * time.Second, AsTuned: 3132 * time.Millisecond, InFull: 3199 * time.Millisecond,
	} {
		options := Options{Ahead: 1, Trials: 3, DeviceTime: device}.withDefaults()
		result, err := recorded(t, record).race(context.Background(), entrant{sampler: "grid"}, 1, options)
		if err != nil || result.near.Round(time.Microsecond) != want {
			t.Errorf("%s: within 2 %% after %v, want %v; %v", device, result.near, want, err)
		}
	}
}
