package monitor

import (
	"fmt"
	"slices"
)

// State is what a GPU does at one moment.
type State struct {
	SMClock     int     `json:"sm_clock"`    // MHz
	Temperature int     `json:"temperature"` // °C; 0: the GPU does not report it
	Power       float64 `json:"power"`       // W; 0: the GPU does not report it
	Reasons     Reasons `json:"reasons"`
}

// Limits is what a GPU can do at most. A limit that it does not report is 0.
type Limits struct {
	SMClock int     `json:"sm_clock"` // MHz
	Power   float64 `json:"power"`    // W, the limit in force
}

// asker reads one value after the other. A value that the GPU does not report is
// noted and read as zero; the first real error is kept.
type asker struct {
	device  device
	unknown []string
	err     error
}

func (a *asker) state() State {
	return State{
		SMClock:     int(a.number(smClock)),
		Temperature: int(a.number(temperature)),
		Power:       watts(a.number(power)),
		Reasons:     Reasons(a.number(reasons)),
	}
}

func (a *asker) limits() Limits {
	return Limits{
		SMClock: int(a.number(maximumSMClock)),
		Power:   watts(a.number(powerLimit)),
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

func (a *asker) text(wanted quantity) string {
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

// readState is worthless without the SM clock and the reasons.
func readState(device device) (State, error) {
	ask := asker{device: device}
	state := ask.state()
	for _, needed := range []quantity{smClock, reasons} {
		if ask.err == nil && slices.Contains(ask.unknown, needed.String()) {
			ask.err = fmt.Errorf("reading the GPU's %s: %w", needed, codeNotSupported)
		}
	}
	if ask.err != nil {
		return State{}, ask.err
	}
	return state, nil
}

func readLimits(device device) (Limits, error) {
	ask := asker{device: device}
	limits := ask.limits()
	return limits, ask.err
}
