package monitor

import (
	"fmt"
	"slices"
)

// asker asks a GPU one question after the other. What the GPU does not tell is
// noted and answered with nothing; the first real error is kept.
type asker struct {
	device  device
	unknown []string
	err     error
}

func (a *asker) state() State {
	return State{
		SMClock:     int(a.number(smClock)),
		MemoryClock: int(a.number(memoryClock)),
		Temperature: int(a.number(temperature)),
		Power:       watts(a.number(power)),
		Reasons:     Reasons(a.number(reasons)),
	}
}

func (a *asker) limits() Limits {
	return Limits{
		SMClock:     int(a.number(maximumSMClock)),
		MemoryClock: int(a.number(maximumMemoryClock)),
		Power:       watts(a.number(powerLimit)),
		Temperature: int(a.number(slowdownTemperature)),
	}
}

func watts(milliwatts uint64) float64 { return float64(milliwatts) / 1000 }

func (a *asker) number(wanted quantity) uint64 {
	value, err := a.device.number(wanted)
	if err != nil {
		a.note(wanted.String(), err)
		return 0
	}
	return value
}

func (a *asker) text(wanted property) string {
	value, err := a.device.text(wanted)
	if err != nil {
		a.note(wanted.String(), err)
		return ""
	}
	return value
}

func (a *asker) processes() []Process {
	processes, err := a.device.processes()
	if err != nil {
		a.note("processes", err)
	}
	for i := range processes {
		processes[i].Name = nameOf(processes[i].PID)
	}
	return append([]Process{}, processes...)
}

func (a *asker) note(wanted string, err error) {
	if unsupported(err) {
		a.unknown = append(a.unknown, wanted)
	} else if a.err == nil {
		a.err = fmt.Errorf("reading the GPU's %s: %w", wanted, err)
	}
}

// missing is an error where the GPU does not tell one of these.
func (a *asker) missing(wanted ...quantity) error {
	for _, one := range wanted {
		if slices.Contains(a.unknown, one.String()) {
			return fmt.Errorf("reading the GPU's %s: %w", one, codeNotSupported)
		}
	}
	return nil
}
