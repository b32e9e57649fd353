// Package driver speaks to the CUDA driver, libcuda.so.1, without cgo: the
// library is opened at run time, so one build serves machines with and without
// a GPU.
//
// It is a thin binding: a type per thing that the driver has a handle for, a
// method per call that this project makes, and errors that carry the driver's
// code. What the calls are for is decided elsewhere. A thread that uses a
// context must be locked to it (runtime.LockOSThread).
package driver

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// ErrNoDriver says that there is no usable driver. The text of the error that
// wraps it says why and what to do.
var ErrNoDriver = errors.New("no usable CUDA driver")

// libraryNames are the places of the driver's library: the loader's own search
// first, then where containers and WSL put it.
var libraryNames = []string{
	"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
}

// Library is the driver, initialized.
type Library struct {
	// Version is the CUDA version that the driver supports, such as 13000 for
	// 13.0.
	Version int

	functions map[string]uintptr // by the names under which the library exports them
}

// required are the functions that this project calls. All of them are in every
// driver since CUDA 12.0.
const required = `
cuInit cuDriverGetVersion cuGetErrorName cuGetErrorString
cuDeviceGetCount cuDeviceGet cuDeviceGetName cuDeviceGetUuid_v2 cuDeviceTotalMem_v2 cuDeviceGetAttribute
cuDeviceGetPCIBusId
cuDevicePrimaryCtxRetain cuCtxSetCurrent cuCtxSynchronize
cuMemAlloc_v2 cuMemFree_v2 cuMemHostAlloc cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemcpyDtoHAsync_v2
cuMemcpyDtoDAsync_v2 cuMemsetD8Async
cuModuleLoadData cuModuleUnload cuModuleGetFunction cuModuleGetGlobal_v2 cuFuncSetAttribute cuLaunchKernel
cuTensorMapEncodeTiled
cuStreamCreate cuStreamSynchronize cuStreamBeginCapture_v2 cuStreamEndCapture
cuGraphInstantiateWithFlags cuGraphDestroy cuGraphExecDestroy cuGraphLaunch
cuEventCreate cuEventRecord cuEventSynchronize cuEventElapsedTime
cuProfilerStart cuProfilerStop`

// Open finds the driver's library and initializes it.
func Open() (*Library, error) {
	handle, err := openLibrary()
	if err != nil {
		return nil, fmt.Errorf("%w: libcuda.so.1 cannot be opened%s; install the NVIDIA driver", ErrNoDriver, inBrackets(err))
	}
	l := &Library{functions: map[string]uintptr{}}
	for name := range strings.FieldsSeq(required) {
		if l.functions[name], err = purego.Dlsym(handle, name); err != nil {
			return nil, fmt.Errorf("%w: the installed one is too old, it has no %s; install a driver for CUDA 12 or later",
				ErrNoDriver, name)
		}
	}
	if err := l.do("cuInit", 0); err != nil {
		return nil, fmt.Errorf("%w: the installed one does not work: %w; %s", ErrNoDriver, err, initAdvice(err))
	}
	var version int32
	if err := l.do("cuDriverGetVersion", uintptr(unsafe.Pointer(&version))); err != nil {
		return nil, err
	}
	l.Version = int(version)
	return l, nil
}

// inBrackets quotes the loader, which sometimes has nothing to say.
func inBrackets(err error) string {
	if err == nil || err.Error() == "" {
		return ""
	}
	return " (" + err.Error() + ")"
}

func openLibrary() (handle uintptr, err error) {
	for i, name := range libraryNames {
		h, openErr := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if openErr == nil {
			return h, nil
		}
		if i == 0 {
			err = openErr // what the loader itself says is the telling one
		}
	}
	return 0, err
}

// initAdvice says what to do about a driver that does not start.
func initAdvice(err error) string {
	switch CodeOf(err) {
	case noDevice:
		return "the driver is there and sees no GPU: check nvidia-smi, CUDA_VISIBLE_DEVICES and the container's device " +
			"settings"
	case systemDriverMismatch, compatNotSupported:
		return "the library and the kernel module are of different versions: restart the machine or reinstall the driver"
	case operatingSystem, systemNotReady, notPermitted:
		return "the device files may be missing or closed to this user: check the permissions of /dev/nvidia*"
	}
	return "check nvidia-smi"
}

// VersionText writes a version number as people do.
func VersionText(version int) string {
	return fmt.Sprintf("%d.%d", version/1000, version%1000/10)
}

// do calls a function of the driver and turns its code into an error. The
// directive keeps what the arguments point to in place during the call; it works
// only where the conversion to uintptr stands in the call itself.
//
//go:uintptrescapes
func (l *Library) do(name string, arguments ...uintptr) error {
	function, known := l.functions[name]
	if !known {
		panic("driver: " + name + " is not among the required functions")
	}
	code, _, _ := purego.SyscallN(function, arguments...)
	if Code(uint32(code)) == 0 {
		return nil
	}
	return l.failure(name, Code(uint32(code)))
}

// failure names a code. The driver knows more about it than any table here.
func (l *Library) failure(call string, code Code) *Error {
	return &Error{
		Call:    strings.TrimSuffix(call, "_v2"),
		Code:    code,
		Name:    l.text("cuGetErrorName", code),
		Meaning: l.text("cuGetErrorString", code),
	}
}

func (l *Library) text(function string, code Code) string {
	var text *byte // the driver's own
	if status, _, _ := purego.SyscallN(l.functions[function], uintptr(code),
		uintptr(unsafe.Pointer(&text))); status != 0 {
		return ""
	}
	return unix.BytePtrToString(text)
}
