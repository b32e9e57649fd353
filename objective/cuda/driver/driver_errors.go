package driver

import (
	"errors"
	"fmt"
	"slices"
)

// Code is a result of the driver, CUresult.
type Code uint32

// The codes that this project distinguishes.
const (
	// InvalidValue is also how the driver refuses a launch that is out of range.
	InvalidValue         Code = 1
	OutOfMemory          Code = 2
	noDevice             Code = 100
	invalidImage         Code = 200
	noBinaryForGPU       Code = 209
	invalidPTX           Code = 218
	unsupportedPTX       Code = 222
	operatingSystem      Code = 304
	NotFound             Code = 500
	IllegalAddress       Code = 700
	LaunchOutOfResources Code = 701
	LaunchTimeout        Code = 702
	Assert               Code = 710
	HardwareStackError   Code = 714
	IllegalInstruction   Code = 715
	MisalignedAddress    Code = 716
	InvalidAddressSpace  Code = 717
	InvalidProgramCount  Code = 718
	LaunchFailed         Code = 719
	notPermitted         Code = 800
	systemNotReady       Code = 802
	systemDriverMismatch Code = 803
	compatNotSupported   Code = 804
	Unknown              Code = 999
)

// Error is a call that the driver did not do.
type Error struct {
	Call    string
	Code    Code
	Name    string // such as CUDA_ERROR_ILLEGAL_ADDRESS
	Meaning string
}

func (e *Error) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("%s: error %d", e.Call, e.Code)
	}
	return fmt.Sprintf("%s: %s (%s)", e.Call, e.Name, e.Meaning)
}

// CodeOf returns the driver's code in an error, 0 for none.
func CodeOf(err error) Code {
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed.Code
	}
	return 0
}

// WrongBinary reports whether a module was refused because of how it was built.
func WrongBinary(err error) bool {
	return slices.Contains([]Code{invalidImage, noBinaryForGPU, invalidPTX, unsupportedPTX}, CodeOf(err))
}
