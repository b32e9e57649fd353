package monitor

import (
	"fmt"
	"slices"
)

// Inventory is what the driver knows about this machine.
type Inventory struct {
	Driver string `json:"driver"` // such as 580.65.06
	CUDA   string `json:"cuda"`   // the newest that the driver runs, such as 13.0
	GPUs   []GPU  `json:"gpus"`
}

type GPU struct {
	Name       string     `json:"name"`
	UUID       string     `json:"uuid"`
	MemoryUsed uint64     `json:"memory_used"` // bytes
	State      State      `json:"state"`
	Limits     Limits     `json:"limits"`
	Processes  []Process  `json:"processes"` // computing on it; a container sees its own only, or none
	ClockLock  Permission `json:"clock_lock"`
	// Unknown names what the GPU does not report; those fields mean nothing.
	Unknown []string `json:"unknown,omitempty"`
	// Trouble is why the GPU could not be asked further.
	Trouble string `json:"trouble,omitempty"`
}

// Devices lists the GPUs of this machine. The error is ErrUnavailable where there
// is no management library. A GPU in trouble is listed with its trouble.
func Devices() (Inventory, error) {
	library, err := load(libraryName)
	if err != nil {
		return Inventory{}, err
	}
	defer library.close()
	return inventory(library, clockLocking(administratorHere()))
}

func inventory(library library, locking Permission) (Inventory, error) {
	driver, cuda, err := library.versions()
	if err != nil {
		return Inventory{}, fmt.Errorf("asking for the driver's version: %w", err)
	}
	count, err := library.count()
	if err != nil {
		return Inventory{}, fmt.Errorf("counting the GPUs: %w", err)
	}
	found := Inventory{Driver: driver, CUDA: fmt.Sprintf("%d.%d", cuda/1000, cuda%1000/10), GPUs: []GPU{}}
	for index := range count {
		gpu := GPU{ClockLock: locking, Processes: []Process{}}
		if device, err := library.at(index); err != nil {
			gpu.Trouble = fmt.Sprintf("opening GPU %d: %v", index, err)
		} else {
			gpu.fill(device)
		}
		found.GPUs = append(found.GPUs, gpu)
	}
	return found, nil
}

func (g *GPU) fill(device device) {
	ask := asker{device: device}
	g.Name = ask.text(deviceName)
	g.UUID = ask.text(deviceUUID)
	g.MemoryUsed = ask.number(memoryUsed)
	g.State = ask.state()
	g.Limits = ask.limits()
	g.Processes = ask.processes()
	g.Unknown = ask.unknown
	if ask.err != nil {
		g.Trouble = ask.err.Error()
	}
}

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
