package nvcc

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// libraryVariable makes this binary a compiler.
const libraryVariable = "PAWL_NVRTC"

// The exit codes of the process.
const (
	statusRefused = 1
	statusCrashed = 2 // the Go runtime's, after a fatal signal
	statusBroken  = 3
)

// libraryRequest is what the process reads from standard input. Without a
// source it answers with the library's version.
type libraryRequest struct {
	Library string
	Source  string
	Options []string
	// Output is where the cubin goes.
	Output string
	// Allowed is the time after which the process ends itself.
	Allowed time.Duration
}

// Main turns the process into an NVRTC compiler if it was started as one, and
// never returns then. Programs and test binaries that use a Library call it
// first. What the compiler says goes to standard output, or to standard error
// if it refused the source.
func Main() {
	if os.Getenv(libraryVariable) == "" {
		return
	}
	status, message := serve(os.Stdin)
	if status == 0 {
		fmt.Print(message)
	} else {
		fmt.Fprint(os.Stderr, message)
	}
	os.Exit(status)
}

// serve answers the one request and returns the exit status.
func serve(in io.Reader) (status int, message string) {
	var request libraryRequest
	if err := json.NewDecoder(in).Decode(&request); err != nil {
		return statusBroken, fmt.Sprintf("reading the request: %v", err)
	}
	time.AfterFunc(request.Allowed, func() { os.Exit(statusBroken) })
	library, err := openNVRTC(request.Library)
	if err != nil {
		return statusBroken, err.Error()
	}
	if request.Source == "" {
		return library.version()
	}
	return library.compile(request)
}

// nvrtc is the loaded library.
type nvrtc struct {
	symbols map[string]uintptr
	pinner  runtime.Pinner
}

// The functions that are called.
var nvrtcFunctions = []string{
	"nvrtcVersion", "nvrtcGetErrorString", "nvrtcCreateProgram", "nvrtcCompileProgram",
	"nvrtcGetProgramLogSize", "nvrtcGetProgramLog", "nvrtcGetCUBINSize", "nvrtcGetCUBIN",
}

// Results of NVRTC that mean something other than a broken library.
const (
	nvrtcInvalidOption = 5
	nvrtcCompilation   = 6
)

func openNVRTC(path string) (*nvrtc, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("loading NVRTC: %w", err)
	}
	n := &nvrtc{symbols: map[string]uintptr{}}
	for _, name := range nvrtcFunctions {
		if n.symbols[name], err = purego.Dlsym(handle, name); err != nil {
			return nil, fmt.Errorf("%s is too old or not NVRTC: %w", path, err)
		}
	}
	return n, nil
}

func (n *nvrtc) call(name string, arguments ...uintptr) int {
	result, _, _ := purego.SyscallN(n.symbols[name], arguments...)
	return int(int32(result))
}

func pointer[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// text returns a C string. It stays where it is as long as the process lives.
func (n *nvrtc) text(content []byte) uintptr {
	terminated := append(append([]byte{}, content...), 0)
	n.pinner.Pin(&terminated[0])
	return pointer(&terminated[0])
}

// version returns the library's version as the message.
func (n *nvrtc) version() (status int, message string) {
	numbers := new([2]int32)
	n.pinner.Pin(numbers)
	if code := n.call("nvrtcVersion", pointer(&numbers[0]), pointer(&numbers[1])); code != 0 {
		return statusBroken, n.failure("nvrtcVersion", code)
	}
	return 0, fmt.Sprintf("%d.%d", numbers[0], numbers[1])
}

// failure says what a result means.
func (n *nvrtc) failure(function string, code int) string {
	address, _, _ := purego.SyscallN(n.symbols["nvrtcGetErrorString"], uintptr(code))
	var name []byte
	for i := uintptr(0); address != 0; i++ {
		character := *(*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&address)))
		if character == 0 {
			break
		}
		name = append(name, character)
		address++
	}
	return fmt.Sprintf("%s: %s", function, name)
}

// compile writes the cubin of a request and returns the log.
func (n *nvrtc) compile(request libraryRequest) (status int, message string) {
	source, err := os.ReadFile(request.Source)
	if err != nil {
		return statusBroken, err.Error()
	}
	program := new(uintptr)
	n.pinner.Pin(program)
	if code := n.call("nvrtcCreateProgram", pointer(program), n.text(source), n.text([]byte(request.Source)), 0, 0, 0); code != 0 {
		return statusBroken, n.failure("nvrtcCreateProgram", code)
	}
	options := make([]uintptr, len(request.Options)+1)
	n.pinner.Pin(&options[0])
	for i, option := range request.Options {
		options[i] = n.text([]byte(option))
	}
	code := n.call("nvrtcCompileProgram", *program, uintptr(len(request.Options)), pointer(&options[0]))
	log, problem := n.bytes(*program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog")
	switch {
	case code == nvrtcCompilation:
		return statusRefused, string(log)
	case code == nvrtcInvalidOption:
		return statusBroken, string(log) + "NVRTC does not know a flag or the architecture: change the manifest's flags or use nvcc"
	case code != 0:
		return statusBroken, n.failure("nvrtcCompileProgram", code) + "\n" + string(log)
	case problem != "":
		return statusBroken, problem
	}
	cubin, problem := n.bytes(*program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN")
	if problem != "" {
		return statusBroken, problem
	}
	if err := os.WriteFile(request.Output, cubin, 0o644); err != nil {
		return statusBroken, err.Error()
	}
	return 0, string(log)
}

// bytes asks for a size and then for that many bytes, without the zero that
// ends a log.
func (n *nvrtc) bytes(program uintptr, sizeFunction, function string) (content []byte, problem string) {
	size := new(uint64)
	n.pinner.Pin(size)
	if code := n.call(sizeFunction, program, pointer(size)); code != 0 {
		return nil, n.failure(sizeFunction, code)
	}
	if *size == 0 {
		return nil, ""
	}
	content = make([]byte, *size)
	n.pinner.Pin(&content[0])
	if code := n.call(function, program, pointer(&content[0])); code != 0 {
		return nil, n.failure(function, code)
	}
	if function == "nvrtcGetProgramLog" {
		content = content[:len(content)-1]
	}
	return content, ""
}
