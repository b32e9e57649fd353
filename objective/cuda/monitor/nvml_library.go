package monitor

// libraryName is the management library, as the driver installs it.
const libraryName = "libnvidia-ml.so.1"

// library is the management library, initialized: the binding of nvml_loaded_linux.go,
// go-nvml with the build tag nvml, and a fake in the tests. Calls on one library
// and its devices may not run at the same time, and none may follow close: in
// go-nvml a call into an unloaded library ends the process.
type library interface {
	// versions returns the driver's version, and CUDA's as 1000·major + 10·minor.
	versions() (driver string, cuda int, err error)
	count() (int, error)
	at(index int) (device, error)
	find(uuid string) (device, error)
	close()
}

// device is one GPU. Errors are codes; a call that this driver does not have is codeFunctionNotFound.
type device interface {
	number(quantity) (uint64, error)
	text(quantity) (string, error)
	// processes lists those that compute, by number and memory.
	processes() ([]Process, error)
	// busy returns the share of the time since then, in microseconds since 1970,
	// in which each process has computed, in per cent.
	busy(since uint64) (map[int]int, error)
	// lock holds the SM clock; 0 gives it back to the driver.
	lock(mhz int) error
}

// quantity is what a device is asked for.
type quantity int

const (
	smClock        quantity = iota // MHz
	temperature                    // °C
	power                          // mW
	reasons                        // bits
	maximumSMClock                 // MHz
	powerLimit                     // mW
	memoryUsed                     // bytes
	energy                         // mJ since the driver was loaded
	deviceName                     // a text, as the next one
	deviceUUID
)

type query struct {
	label string
	// names are spellings of one function, separated by blanks: the first that the driver has is called.
	names string
	// selector is the argument in front of the result, from the driver's enumerations.
	selector int
}

const (
	noSelector   = -1
	selectSM     = 1
	selectSensor = 0
)

// The plain call for the temperature is deprecated and may go; the newer one answers in a structure.
const (
	plainTemperature  = "nvmlDeviceGetTemperature"
	structTemperature = "nvmlDeviceGetTemperatureV"
)

// The two names of the call for the clock's reasons.
const (
	eventReasons    = "nvmlDeviceGetCurrentClocksEventReasons"
	throttleReasons = "nvmlDeviceGetCurrentClocksThrottleReasons"
)

var queries = [...]query{
	smClock:        {"SM clock", "nvmlDeviceGetClockInfo", selectSM},
	temperature:    {"temperature", plainTemperature + " " + structTemperature, selectSensor},
	power:          {"power", "nvmlDeviceGetPowerUsage", noSelector},
	reasons:        {"clock reasons", eventReasons + " " + throttleReasons, noSelector},
	maximumSMClock: {"highest SM clock", "nvmlDeviceGetMaxClockInfo", selectSM},
	powerLimit:     {"power limit", "nvmlDeviceGetEnforcedPowerLimit", noSelector},
	memoryUsed:     {"memory used", "nvmlDeviceGetMemoryInfo", noSelector},
	energy:         {"energy", "nvmlDeviceGetTotalEnergyConsumption", noSelector},
	deviceName:     {"name", "nvmlDeviceGetName", noSelector},
	deviceUUID:     {"UUID", "nvmlDeviceGetUUID", noSelector},
}

func (q quantity) String() string { return queries[q].label }

// The other functions. Those for processes share one layout; the oldest, with another, is not used.
const (
	driverVersionName = "nvmlSystemGetDriverVersion"
	cudaVersionName   = "nvmlSystemGetCudaDriverVersion"
	countName         = "nvmlDeviceGetCount_v2"
	atName            = "nvmlDeviceGetHandleByIndex_v2"
	findName          = "nvmlDeviceGetHandleByUUID"
	processesName     = "nvmlDeviceGetComputeRunningProcesses_v3 nvmlDeviceGetComputeRunningProcesses_v2"
	busyName          = "nvmlDeviceGetProcessUtilization"
	lockName          = "nvmlDeviceSetGpuLockedClocks"
	unlockName        = "nvmlDeviceResetGpuLockedClocks"
)

// knownMemory is 0 for memory that the library may not see.
func knownMemory(bytes uint64) uint64 {
	if bytes == ^uint64(0) {
		return 0
	}
	return bytes
}
