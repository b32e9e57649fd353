package monitor

import "fmt"

// Inventory is what the driver knows about this machine.
type Inventory struct {
	Driver string `json:"driver"` // such as 580.65.06
	CUDA   string `json:"cuda"`   // the newest that the driver runs, such as 13.0
	GPUs   []GPU  `json:"gpus"`
}

// GPU is one GPU of the inventory.
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
