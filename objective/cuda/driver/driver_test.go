//go:build linux

package driver

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
)

// childVariable names what a child process of the tests does. The loader looks
// for the driver where a variable said when the process started, so whoever
// opens the imaginary one is a process of its own.
const childVariable = "PAWL_TEST_DRIVER"

func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // it sleeps a second otherwise
	if visits[os.Getenv(childVariable)] != nil {
		child(visits[os.Getenv(childVariable)])
		return
	}
	code := m.Run()
	if library.dir != "" {
		os.RemoveAll(library.dir)
	}
	os.Exit(code)
}

// seen is what a child has found.
type seen struct {
	Error      string
	Missing    bool // the error is ErrNoDriver
	Version    int
	Attributes []Attributes
	Notes      map[string]string
}

// visits are what a child can do with the driver once it is open.
var visits = map[string]func(*Library, *seen) error{
	"devices": visitDevices,
	"context": visitContext,
}

func child(visit func(*Library, *seen) error) {
	runtime.LockOSThread()
	found := seen{Notes: map[string]string{}}
	l, err := Open()
	if err == nil {
		found.Version = l.Version
		err = visit(l, &found)
	}
	if err != nil {
		found.Error, found.Missing = err.Error(), errors.Is(err, ErrNoDriver)
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		os.Exit(1)
	}
}

func visitDevices(l *Library, found *seen) error {
	devices, err := l.Devices()
	if err != nil {
		return err
	}
	for _, device := range devices {
		a, err := device.Attributes()
		if err != nil {
			return err
		}
		found.Attributes = append(found.Attributes, a)
	}
	return nil
}

// visitContext walks through what needs no kernel.
func visitContext(l *Library, found *seen) error {
	devices, err := l.Devices()
	if err != nil {
		return err
	}
	note := func(name string, value any, err error) {
		found.Notes[name] = fmt.Sprint(value)
		if err != nil {
			found.Notes[name] = err.Error()
		}
	}
	_, err = devices[0].attribute(4711)
	note("no such attribute", "", err)
	c, err := devices[0].Use()
	if err != nil {
		return err
	}
	if err := testFunctions(c.Library); err != nil {
		return err
	}
	if err := memory(c, note); err != nil {
		return err
	}
	s, err := c.NewStream()
	if err != nil {
		return err
	}
	_, err = c.LoadModule([]byte("no cubin"))
	note("wrong binary", WrongBinary(err), nil)
	note("graph", "", capture(c, s))
	note("elapsed", "", events(c, s))
	note("tensor map", "", tensorMap(c))
	note("stream", "", c.do("cuStreamDestroy_v2", uintptr(s)))
	note("stream again", "", c.do("cuStreamDestroy_v2", uintptr(s)))
	return c.do("cuDevicePrimaryCtxRelease_v2", 0)
}

// testFunctions adds those that only the tests call.
func testFunctions(l *Library) error {
	handle, err := openLibrary()
	for _, name := range []string{"cuStreamDestroy_v2", "cuDevicePrimaryCtxRelease_v2", "cuMemGetInfo_v2",
		"cuEventDestroy_v2"} {
		if err == nil {
			l.functions[name], err = purego.Dlsym(handle, name)
		}
	}
	return err
}

func memory(c *Context, note func(string, any, error)) error {
	a, err := c.Allocate(1000)
	if err != nil {
		return err
	}
	b, err := c.Allocate(1000)
	if err != nil {
		return err
	}
	var free, total uint64
	err = c.do("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total)))
	note("taken", total-free, err)
	text := make([]byte, 4)
	err = errors.Join(c.ToDevice(b+996, []byte("abcd")), c.ToHost(text, b+996), c.ToDevice(a, nil), c.ToHost(nil, a))
	note("copied", string(text), err)
	note("beyond", "", c.ToDevice(a+997, []byte("abcd")))
	_, err = c.Allocate(1 << 40)
	note("too much", CodeOf(err) == OutOfMemory, nil)
	note("free", "", errors.Join(c.Free(a), c.Free(b)))
	note("free again", "", c.Free(a))
	return nil
}

// capture records nothing, and then fails.
func capture(c *Context, s Stream) error {
	x, err := c.Capture(s, func() error { return nil })
	if err != nil {
		return err
	}
	if err := errors.Join(c.LaunchGraph(x, s), c.Wait(s), c.DestroyGraph(x)); err != nil {
		return err
	}
	broken := errors.New("broken")
	if _, err := c.Capture(s, func() error { return broken }); err != broken {
		return fmt.Errorf("a capture that fails: %w", err)
	}
	return c.Wait(s) // and the stream is of use again
}

func events(c *Context, s Stream) error {
	first, err := c.NewEvent()
	if err != nil {
		return err
	}
	second, err := c.NewEvent()
	if err != nil {
		return err
	}
	if _, err := c.Between(first, second); err == nil {
		return errors.New("a time between events that never were")
	}
	if err := errors.Join(c.Record(first, s), c.Record(second, s)); err != nil {
		return err
	}
	if milliseconds, err := c.Between(first, second); err != nil || milliseconds != 0 {
		return fmt.Errorf("%g ms between events with nothing between: %w", milliseconds, err)
	}
	return errors.Join(c.do("cuEventDestroy_v2", uintptr(first)), c.do("cuEventDestroy_v2", uintptr(second)))
}

// tensorMap encodes three dimensions and reads what the imaginary driver got:
// everything innermost first.
func tensorMap(c *Context) error {
	memory := make([]byte, TensorMapSize+64)
	at := 64 - int(uintptr(unsafe.Pointer(&memory[0]))%64)
	to := memory[at : at+TensorMapSize]
	half, err := element.Named("f16")
	if err != nil {
		return err
	}
	layout := arguments.TensorLayout{Shape: []int64{6, 500, 64}, Box: []int64{1, 128, 32}, Swizzle: 64, Base: 0x200}
	if err := c.EncodeTensorMap(to, 0x1000, layout, half); err != nil {
		return err
	}
	var got struct {
		Base                uint64
		Shape               [5]uint64
		Strides             [4]uint64
		Box                 [5]uint32
		Type, Rank, Swizzle uint32
	}
	if err := binary.Read(bytes.NewReader(to), binary.LittleEndian, &got); err != nil {
		return err
	}
	if got.Base != 0x1200 || got.Shape != [5]uint64{64, 500, 6} || got.Strides != [4]uint64{128, 64000} ||
		got.Box != [5]uint32{32, 128, 1} || got.Type != 6 || got.Rank != 3 || got.Swizzle != 2 {
		return fmt.Errorf("%+v", got)
	}
	if err := c.EncodeTensorMap(to, 0x1008, layout, half); err == nil {
		return errors.New("a base that is not aligned to 16 bytes")
	}
	return nil
}

// library is the imaginary driver, compiled once.
var library struct {
	once    sync.Once
	dir     string
	failure error
}

// folder returns the folder of an imaginary driver; too old is another one.
func folder(t *testing.T, old bool) string {
	t.Helper()
	library.once.Do(func() {
		if library.dir, library.failure = os.MkdirTemp("", "pawl-driver-"); library.failure == nil {
			library.failure = errors.Join(build("new"), build("old", "-DTOO_OLD"))
		}
	})
	if library.failure != nil {
		t.Fatal(library.failure)
	}
	if old {
		return filepath.Join(library.dir, "old")
	}
	return filepath.Join(library.dir, "new")
}

func build(name string, flags ...string) error {
	dir := filepath.Join(library.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	arguments := append([]string{"-shared", "-fPIC", "-w", "-o", filepath.Join(dir, "libcuda.so.1"),
		"testdata/driver.c"}, flags...)
	if output, err := exec.Command("cc", arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("the C compiler: %w\n%s", err, output)
	}
	return nil
}

// visit lets a child do something with the driver in a folder.
func visit(t *testing.T, what, folder string, environment ...string) seen {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+what, "LD_LIBRARY_PATH="+folder)
	command.Env = append(command.Env, environment...)
	output, err := command.Output()
	var found seen
	if err == nil {
		err = json.Unmarshal(output, &found)
	}
	if err != nil {
		t.Fatalf("the child: %v\n%s", err, output)
	}
	return found
}

func TestDevices(t *testing.T) {
	found := visit(t, "devices", folder(t, false), "PAWL_FAKE_DEVICES=2", "PAWL_FAKE_MEMORY=1000000")
	if found.Error != "" || found.Version != 13010 || len(found.Attributes) != 2 {
		t.Fatalf("%+v", found)
	}
	// The values are those of testdata/driver.c.
	want := Attributes{
		Name: "Imaginary H200", UUID: "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", Bus: "0000:1B:00.0",
		Major: 9, Minor: 0, Memory: 1000000, Multiprocessors: 132, ThreadsPerBlock: 1024,
		Block: [3]int{1024, 1024, 64}, Grid: [3]int{1<<31 - 1, 65535, 65535}, RegistersPerBlock: 65536,
		SharedPerBlock: 232448, SharedPerProcessor: 233472, L2: 65536, Clock: 1980000, MemoryClock: 3201000,
		MemoryBusWidth: 6144,
	}
	if found.Attributes[0] != want {
		t.Errorf("the first is %+v", found.Attributes[0])
	}
	want.UUID, want.Bus = "GPU-00010203-0405-0607-0809-0a0b0c0d0e10", "0000:1C:00.0"
	if found.Attributes[1] != want {
		t.Errorf("the second is %+v", found.Attributes[1])
	}
	only := visit(t, "devices", folder(t, false), "PAWL_FAKE_DEVICES=2", "CUDA_VISIBLE_DEVICES="+want.UUID)
	if len(only.Attributes) != 1 || only.Attributes[0].UUID != want.UUID {
		t.Errorf("%+v", only)
	}
}

func TestContext(t *testing.T) {
	ledgers := t.TempDir()
	found := visit(t, "context", folder(t, false), "PAWL_FAKE_LEDGER="+ledgers)
	if found.Error != "" {
		t.Fatal(found.Error)
	}
	nothingIsLeft(t, ledgers)
	for name, want := range map[string]string{
		"no such attribute": "cuDeviceGetAttribute: CUDA_ERROR_INVALID_VALUE (invalid argument)",
		"taken":             "2000",
		"copied":            "abcd",
		"beyond":            "cuMemcpyHtoD: CUDA_ERROR_INVALID_VALUE (invalid argument)",
		"too much":          "true",
		"free":              "",
		"free again":        "cuMemFree: CUDA_ERROR_INVALID_VALUE (invalid argument)",
		"wrong binary":      "true",
		"graph":             "", "tensor map": "",
		"elapsed":      "",
		"stream":       "",
		"stream again": "cuStreamDestroy: CUDA_ERROR_INVALID_HANDLE (invalid resource handle)",
	} {
		if got, there := found.Notes[name]; got != want || !there {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// nothingIsLeft reads what the imaginary driver has counted: behind the number of
// the device stand blocks, bytes, modules, streams, events, graphs, executables
// and contexts that are alive.
func nothingIsLeft(t *testing.T, ledgers string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(ledgers, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("ledgers %v, %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var counts [9]int64
	if err := binary.Read(bytes.NewReader(content), binary.NativeEndian, &counts); err != nil {
		t.Fatal(err)
	}
	if counts != [9]int64{15} {
		t.Errorf("still alive: %v", counts)
	}
}

func TestDriversThatDoNotWork(t *testing.T) {
	const (
		sees = "the driver is there and sees no GPU: check nvidia-smi, CUDA_VISIBLE_DEVICES and the container's " +
			"device settings"
		versions = "the library and the kernel module are of different versions: restart the machine or reinstall the driver"
		files    = "the device files may be missing or closed to this user: check the permissions of /dev/nvidia*"
	)
	for code, advice := range map[string]string{
		"100": sees, "803": versions, "804": versions, "304": files, "802": files, "800": files, "999": "check nvidia-smi",
	} {
		found := visit(t, "devices", folder(t, false), "PAWL_FAKE_INIT="+code)
		if !found.Missing ||
			!strings.HasPrefix(found.Error, "no usable CUDA driver: the installed one does not work: cuInit: ") ||
			!strings.HasSuffix(found.Error, "; "+advice) {
			t.Errorf("%s: %+v", code, found)
		}
	}
	known := visit(t, "devices", folder(t, false), "PAWL_FAKE_INIT=803")
	if !strings.Contains(known.Error, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (system has unsupported") {
		t.Errorf("a code that the driver can name: %s", known.Error)
	}
	unknown := visit(t, "devices", folder(t, false), "PAWL_FAKE_INIT=999")
	if !strings.Contains(unknown.Error, "cuInit: error 999; ") {
		t.Errorf("a code that it cannot name: %s", unknown.Error)
	}
}

func TestOldDriver(t *testing.T) {
	found := visit(t, "devices", folder(t, true))
	if !found.Missing ||
		found.Error !=
			"no usable CUDA driver: the installed one is too old, it has no cuGraphInstantiateWithFlags; install a driver "+
				"for CUDA 12 or later" {
		t.Errorf("%+v", found)
	}
}

func TestNoDriver(t *testing.T) {
	found := visit(t, "devices", t.TempDir())
	if found.Error == "" {
		t.Skip("this machine has a driver of its own")
	}
	if !found.Missing || !strings.HasPrefix(found.Error, "no usable CUDA driver: libcuda.so.1 cannot be opened (") ||
		!strings.HasSuffix(found.Error, "); install the NVIDIA driver") {
		t.Errorf("%+v", found)
	}
	// A file that is no library is as good as none.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libcuda.so.1"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if broken := visit(t, "devices", dir); !broken.Missing {
		t.Errorf("%+v", broken)
	}
}

func TestUUIDText(t *testing.T) {
	uuid := [16]byte{0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5, 6, 0xa, 0xb, 0xc, 0xd, 0xe, 0xf}
	if got := uuidText(uuid); got != "GPU-deadbeef-0102-0304-0506-0a0b0c0d0e0f" {
		t.Error(got)
	}
}

func TestVersionText(t *testing.T) {
	for version, want := range map[int]string{13000: "13.0", 12080: "12.8", 12090: "12.9", 13010: "13.1", 0: "0.0"} {
		if got := VersionText(version); got != want {
			t.Errorf("%d: %s", version, got)
		}
	}
}

func TestCodes(t *testing.T) {
	failed := fmt.Errorf("loading: %w", &Error{Call: "cuModuleLoadData", Code: 209})
	if CodeOf(failed) != 209 || !WrongBinary(failed) || failed.Error() != "loading: cuModuleLoadData: error 209" {
		t.Error(failed)
	}
	if CodeOf(errors.New("another")) != 0 || CodeOf(nil) != 0 || WrongBinary(nil) ||
		WrongBinary(&Error{Code: IllegalAddress}) {
		t.Error("what is no code has one")
	}
}
