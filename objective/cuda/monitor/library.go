package monitor

import "bytes"

// libraryName is the management library, as the driver installs it.
const libraryName = "libnvidia-ml.so.1"

// library is the management library, initialised. It has one implementation per
// build (see load) and a fake in the tests. After close nothing may be called:
// in go-nvml a call into an unloaded library ends the process.
type library interface {
	// versions returns the driver's version, and CUDA's as 1000·major + 10·minor.
	versions() (driver string, cuda int, err error)
	count() (int, error)
	at(index int) (device, error)
	find(uuid string) (device, error)
	close()
}

// device is one GPU. Errors are codes; a call that this driver does not have is
// codeFunctionNotFound.
type device interface {
	number(quantity) (uint64, error)
	text(property) (string, error)
	// processes lists those that compute, by number and memory.
	processes() ([]Process, error)
	// busy returns the share of the time since then, in microseconds since 1970,
	// in which each process has computed, in per cent.
	busy(since uint64) (map[int]int, error)
	lock(mhz int) error
	unlock() error
}

// quantity is a number that a GPU can be asked for.
type quantity int

const (
	smClock             quantity = iota // MHz
	memoryClock                         // MHz
	temperature                         // °C
	power                               // mW
	reasons                             // bits
	maximumSMClock                      // MHz
	maximumMemoryClock                  // MHz
	powerLimit                          // mW
	slowdownTemperature                 // °C
	memoryTotal                         // bytes
	memoryUsed                          // bytes
	computeMode                         // see computeModes
	persistence                         // 0 or 1
	quantities
)

// property is a text that a GPU can be asked for.
type property int

const (
	deviceName property = iota
	deviceUUID
	deviceBus
	properties
)

// query is how one quantity is asked for: the first of the names that the driver
// has, and the selector in front of the result. Later names are older or newer
// spellings of the same question.
type query struct {
	label    string
	names    []string
	selector int
}

// The selectors of the driver's enumerations.
const (
	noSelector     = -1
	selectSM       = 1
	selectMemory   = 2
	selectSensor   = 0
	selectSlowdown = 1
)

// temperatureStruct is the call that answers in a structure; the plain one is
// deprecated and may go.
const temperatureStruct = "nvmlDeviceGetTemperatureV"

var queries = [quantities]query{
	smClock:             {"SM clock", []string{"nvmlDeviceGetClockInfo"}, selectSM},
	memoryClock:         {"memory clock", []string{"nvmlDeviceGetClockInfo"}, selectMemory},
	temperature:         {"temperature", []string{"nvmlDeviceGetTemperature", temperatureStruct}, selectSensor},
	power:               {"power", []string{"nvmlDeviceGetPowerUsage"}, noSelector},
	reasons:             {"clock reasons", []string{"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}, noSelector},
	maximumSMClock:      {"highest SM clock", []string{"nvmlDeviceGetMaxClockInfo"}, selectSM},
	maximumMemoryClock:  {"highest memory clock", []string{"nvmlDeviceGetMaxClockInfo"}, selectMemory},
	powerLimit:          {"power limit", []string{"nvmlDeviceGetEnforcedPowerLimit"}, noSelector},
	slowdownTemperature: {"slowdown temperature", []string{"nvmlDeviceGetTemperatureThreshold"}, selectSlowdown},
	memoryTotal:         {"memory", []string{"nvmlDeviceGetMemoryInfo"}, noSelector},
	memoryUsed:          {"memory used", []string{"nvmlDeviceGetMemoryInfo"}, noSelector},
	computeMode:         {"compute mode", []string{"nvmlDeviceGetComputeMode"}, noSelector},
	persistence:         {"persistence mode", []string{"nvmlDeviceGetPersistenceMode"}, noSelector},
}

func (q quantity) String() string { return queries[q].label }

// inquiry is how one property is asked for.
type inquiry struct {
	label string
	names []string
}

var inquiries = [properties]inquiry{
	deviceName: {"name", []string{"nvmlDeviceGetName"}},
	deviceUUID: {"UUID", []string{"nvmlDeviceGetUUID"}},
	deviceBus:  {"PCI bus", []string{"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2"}},
}

func (p property) String() string { return inquiries[p].label }

const (
	lockName   = "nvmlDeviceSetGpuLockedClocks"
	unlockName = "nvmlDeviceResetGpuLockedClocks"
)

// processNames share one layout; the oldest version, with another, is not used.
var processNames = []string{"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}

// busyName is the call for how busy processes are.
const busyName = "nvmlDeviceGetProcessUtilization"

// unknownMemory is what the library says of memory that it may not see.
const unknownMemory = ^uint64(0)

// knownMemory is 0 for that.
func knownMemory(bytes uint64) uint64 {
	if bytes == unknownMemory {
		return 0
	}
	return bytes
}

// first returns the first name that has holds for, or nothing.
func first(names []string, has func(string) bool) string {
	for _, name := range names {
		if has(name) {
			return name
		}
	}
	return ""
}

// terminated is the text before the first zero byte.
func terminated(text []byte) string {
	before, _, _ := bytes.Cut(text, []byte{0})
	return string(before)
}
