package monitor

import (
	"errors"
	"strings"
	"testing"
)

func TestReadAndLimits(t *testing.T) {
	monitor, library, err := watching(healthy())
	if err != nil {
		t.Fatal(err)
	}
	state, err := monitor.Read()
	if want := (State{SMClock: 1980, Temperature: 41, Power: 123.456}); err != nil || state != want {
		t.Errorf("got %+v, %v", state, err)
	}
	limits, err := readLimits(monitor.device)
	if want := (Limits{SMClock: 1995, Power: 700}); err != nil || limits != want {
		t.Errorf("got %+v, %v", limits, err)
	}
	monitor.Close()
	monitor.Close()
	if library.closed != 1 {
		t.Errorf("the library was closed %d times", library.closed)
	}
}

func TestNothingIsCalledAfterClose(t *testing.T) {
	monitor, _, err := watching(healthy())
	if err != nil {
		t.Fatal(err)
	}
	monitor.Close()
	if _, err := monitor.Read(); !errors.Is(err, errClosed) {
		t.Errorf("Read: %v", err)
	}
	if _, err := monitor.LockClocks(1000); !errors.Is(err, errClosed) {
		t.Errorf("LockClocks: %v", err)
	}
}

func TestOpenRefusesWhatCannotBeWatched(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*fakeDevice)
		want  string
	}{
		"another GPU": {func(d *fakeDevice) { d.texts[deviceUUID] = "GPU-other" }, "there is no such GPU"},
		"no clock":    {func(d *fakeDevice) { delete(d.numbers, smClock) }, "SM clock"},
		"no reasons":  {func(d *fakeDevice) { delete(d.numbers, reasons) }, "clock reasons"},
		"lost":        {func(d *fakeDevice) { d.failures[power] = code(15) }, "power: the GPU has fallen off the bus"},
	} {
		t.Run(name, func(t *testing.T) {
			gpu := healthy()
			test.spoil(gpu)
			_, library, err := watching(gpu)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
			if library.closed != 1 {
				t.Errorf("the library was closed %d times", library.closed)
			}
		})
	}
}

func TestReadWithoutTheRest(t *testing.T) {
	gpu := healthy()
	for _, missing := range []quantity{temperature, power} {
		delete(gpu.numbers, missing)
	}
	monitor, _, err := watching(gpu)
	if err != nil {
		t.Fatal(err)
	}
	if state, err := monitor.Read(); err != nil || state != (State{SMClock: 1980}) {
		t.Errorf("got %+v, %v", state, err)
	}
}

func TestCodes(t *testing.T) {
	if failure(0) != nil {
		t.Error("success is no failure")
	}
	if !errors.Is(failure(4), ErrNoPermission) || errors.Is(failure(3), ErrNoPermission) {
		t.Error("only code 4 is a missing permission")
	}
	if got := failure(77).Error(); got != "the driver answers with code 77" {
		t.Errorf("got %q", got)
	}
}
