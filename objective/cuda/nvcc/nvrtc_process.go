package nvcc

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
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
	// Prelude stands before the source, Checks behind it.
	Prelude, Checks string
	// Output is where the cubin goes.
	Output string
	// Instances are name expressions; their symbols go to the file Names, as JSON.
	Instances []string
	Names     string
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
		return library.answer()
	}
	return library.build(request)
}

// nvrtc is the functions of the loaded library that are called. They return 0, or what
// went wrong.
type nvrtc struct {
	version             func(major, minor *int32) int32
	errorText           func(code int32) string
	create              func(program *uintptr, source, name string, headers int32, contents, names uintptr) int32
	compile             func(program uintptr, count int32, options **byte) int32
	logSize, cubinSize  func(program uintptr, size *uint64) int32
	writeLog, writeCode func(program uintptr, to *byte) int32
	// Of libraries that are asked for instances.
	addName     func(program uintptr, expression string) int32
	loweredName func(program uintptr, expression string, symbol **byte) int32

	handle uintptr
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
	n := &nvrtc{handle: handle}
	return n, n.register(path, map[string]any{
		"nvrtcVersion": &n.version, "nvrtcGetErrorString": &n.errorText,
		"nvrtcCreateProgram": &n.create, "nvrtcCompileProgram": &n.compile,
		"nvrtcGetProgramLogSize": &n.logSize, "nvrtcGetProgramLog": &n.writeLog,
		"nvrtcGetCUBINSize": &n.cubinSize, "nvrtcGetCUBIN": &n.writeCode,
	})
}

// register finds functions of the library.
func (n *nvrtc) register(path string, functions map[string]any) error {
	for name, function := range functions {
		address, err := purego.Dlsym(n.handle, name)
		if err != nil {
			return fmt.Errorf("%s is too old or not NVRTC: %w", path, err)
		}
		purego.RegisterFunc(function, address)
	}
	return nil
}

// ask notes the instances of a request, before it is compiled.
func (n *nvrtc) ask(program uintptr, request libraryRequest) (problem string) {
	if len(request.Instances) == 0 {
		return ""
	}
	err := n.register(request.Library,
		map[string]any{"nvrtcAddNameExpression": &n.addName, "nvrtcGetLoweredName": &n.loweredName})
	if err != nil {
		return err.Error()
	}
	for _, instance := range request.Instances {
		if code := n.addName(program, instance); code != 0 {
			return "nvrtcAddNameExpression: " + n.errorText(code)
		}
	}
	return ""
}

// tell writes what became of the instances.
func (n *nvrtc) tell(program uintptr, request libraryRequest) (problem string) {
	if len(request.Instances) == 0 {
		return ""
	}
	names := map[string]string{}
	for _, instance := range request.Instances {
		var symbol *byte
		if code := n.loweredName(program, instance, &symbol); code != 0 {
			return "nvrtcGetLoweredName: " + n.errorText(code)
		}
		length := 0
		for *(*byte)(unsafe.Add(unsafe.Pointer(symbol), length)) != 0 {
			length++
		}
		names[instance] = strings.Clone(unsafe.String(symbol, length))
	}
	content, err := json.Marshal(names)
	if err == nil {
		err = os.WriteFile(request.Names, content, 0o644)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// answer returns the library's version as the message.
func (n *nvrtc) answer() (status int, message string) {
	var major, minor int32
	if code := n.version(&major, &minor); code != 0 {
		return statusBroken, "nvrtcVersion: " + n.errorText(code)
	}
	return 0, fmt.Sprintf("%d.%d", major, minor)
}

// build writes the cubin of a request and returns the log.
func (n *nvrtc) build(request libraryRequest) (status int, message string) {
	source, err := os.ReadFile(request.Source)
	if err != nil {
		return statusBroken, err.Error()
	}
	source = fmt.Appendf(nil, "%s#line 1\n%s\n%s", request.Prelude, source, request.Checks)
	var program uintptr
	if code := n.create(&program, string(source), request.Source, 0, 0, 0); code != 0 {
		return statusBroken, "nvrtcCreateProgram: " + n.errorText(code)
	}
	if problem := n.ask(program, request); problem != "" {
		return statusBroken, problem
	}
	options := make([]*byte, len(request.Options)+1)
	for i, option := range request.Options {
		options[i] = unsafe.StringData(option + "\x00")
	}
	code := n.compile(program, int32(len(request.Options)), &options[0])
	log, problem := n.read(program, n.logSize, n.writeLog)
	text := strings.TrimSuffix(string(log), "\x00")
	switch {
	case code == nvrtcCompilation:
		return statusRefused, text
	case code == nvrtcInvalidOption:
		return statusBroken, text + "NVRTC does not know a flag or the architecture: change the manifest's flags or use nvcc"
	case code != 0:
		return statusBroken, "nvrtcCompileProgram: " + n.errorText(code) + "\n" + text
	case problem != "":
		return statusBroken, "the log: " + problem
	}
	cubin, problem := n.read(program, n.cubinSize, n.writeCode)
	if problem != "" {
		return statusBroken, "the cubin: " + problem
	}
	if problem := n.tell(program, request); problem != "" {
		return statusBroken, problem
	}
	if err := os.WriteFile(request.Output, cubin, 0o644); err != nil {
		return statusBroken, err.Error()
	}
	return 0, text
}

// read asks for a size and then for that many bytes.
func (n *nvrtc) read(program uintptr, length func(uintptr, *uint64) int32,
	write func(uintptr, *byte) int32) (content []byte, problem string) {
	var size uint64
	if code := length(program, &size); code != 0 {
		return nil, n.errorText(code)
	}
	if size == 0 {
		return nil, ""
	}
	content = make([]byte, size)
	if code := write(program, &content[0]); code != 0 {
		return nil, n.errorText(code)
	}
	return content, ""
}
