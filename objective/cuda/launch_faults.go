package cuda

import (
	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

// faults says what a kernel has done, by the driver's code.
var faults = map[driver.Code]worker.FaultKind{
	driver.IllegalAddress:       worker.IllegalAddress,
	driver.MisalignedAddress:    worker.MisalignedAccess,
	driver.Assert:               worker.Asserted,
	driver.HardwareStackError:   worker.Trapped,
	driver.IllegalInstruction:   worker.Trapped,
	driver.InvalidAddressSpace:  worker.Trapped,
	driver.InvalidProgramCount:  worker.Trapped,
	driver.LaunchFailed:         worker.LaunchFailed,
	driver.Unknown:              worker.LaunchFailed,
	driver.LaunchTimeout:        worker.Hung,
	driver.LaunchOutOfResources: worker.Refused,
	driver.InvalidValue:         worker.Refused,
	driver.OutOfMemory:          worker.NoMemory,
}

// fault turns an error of a launch, or of waiting for one, into the kernel's
// fault. What no kernel can cause stays an error.
func fault(err error) error {
	if err == nil {
		return nil
	}
	if kind, known := faults[driver.CodeOf(err)]; known {
		return &worker.Fault{Kind: kind, Detail: err.Error()}
	}
	return err
}
