package monitor

import (
	"errors"
	"fmt"
)

// ErrUnavailable says that there is no management library to ask: no driver, no
// GPU, or another operating system. Tuning works without, but throttled samples
// are not found.
var ErrUnavailable = errors.New("the state of the GPU is not available")

// ErrNoPermission says that the driver refuses this user. Go on with a warning.
var ErrNoPermission = errors.New("permission denied")

// code is the management library's answer to a call. Its text is ours, because
// the library's own cannot be read when loading it failed.
type code int

const (
	codeSuccess          code = 0
	codeNotSupported     code = 3
	codeNoPermission     code = 4
	codeNotFound         code = 6
	codeInsufficientSize code = 7
	codeLibraryNotFound  code = 12
	codeFunctionNotFound code = 13
)

var codeTexts = map[code]string{
	1:                    "the management library is not initialized",
	2:                    "the driver calls an argument invalid",
	codeNotSupported:     "this GPU does not support it",
	codeNoPermission:     "the driver does not permit it to this user",
	codeNotFound:         "there is no such GPU",
	codeInsufficientSize: "the driver's list is longer than there is room for",
	8:                    "the GPU's power cables are not attached properly",
	9:                    "the NVIDIA driver is not loaded; load it or reboot",
	10:                   "the driver did not answer in time",
	11:                   "the driver has trouble with the GPU's interrupts",
	codeLibraryNotFound:  libraryName + " cannot be loaded; install the NVIDIA driver",
	codeFunctionNotFound: "this driver is too old or too new to know the call",
	15:                   "the GPU has fallen off the bus; reboot",
	16:                   "the GPU needs a reset; see nvidia-smi --gpu-reset",
	17:                   "the operating system blocks the GPU; give this container or user access to the device",
	18:                   "the driver's library and its kernel module differ in version; reboot after the driver's update",
	28:                   "there is no GPU",
	999:                  "the driver reports an internal error",
}

func (c code) Error() string {
	if text, ok := codeTexts[c]; ok {
		return text
	}
	return fmt.Sprintf("the driver answers with code %d", int(c))
}

// Is lets callers ask for ErrNoPermission.
func (c code) Is(target error) bool { return target == ErrNoPermission && c == codeNoPermission }

func failure(answer int) error {
	if code(answer) == codeSuccess {
		return nil
	}
	return code(answer)
}

// unavailable is the error of a library that could not be loaded or initialized.
func unavailable(reason error) error { return fmt.Errorf("%w: %w", ErrUnavailable, reason) }

// unsupported reports that a GPU or its driver does not know the question, which asking again will not change.
func unsupported(err error) bool {
	return errors.Is(err, codeNotSupported) || errors.Is(err, codeFunctionNotFound)
}
