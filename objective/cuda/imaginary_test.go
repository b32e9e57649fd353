package cuda

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the C code
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl/internal/kerneltest"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/worker"
	"pawl/space"
)

//go:embed driver/testdata/driver.c
var imaginaryDriver []byte

//go:embed monitor/testdata/library.c
var imaginaryManagement []byte

// imaginary is what all tests without a GPU share: libraries that pass for the
// driver's, a program that passes for nvcc, and what was compiled by it.
var imaginary struct {
	once    sync.Once
	dir     string
	failure error
}

func imaginaryFolder(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the imaginary driver needs Linux")
	}
	imaginary.once.Do(func() { imaginary.failure = buildImaginary() })
	if imaginary.failure != nil {
		t.Fatal(imaginary.failure)
	}
	return imaginary.dir
}

func removeImaginary() {
	if imaginary.dir != "" {
		os.RemoveAll(imaginary.dir)
	}
}

func buildImaginary() (err error) {
	if imaginary.dir, err = os.MkdirTemp("", "pawl-imaginary-"); err != nil {
		return err
	}
	for name, source := range map[string][]byte{"libcuda": imaginaryDriver, "libnvidia-ml": imaginaryManagement} {
		if err := buildLibrary(filepath.Join(imaginary.dir, name+".so.1"), source); err != nil {
			return err
		}
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\n%s=nvcc exec '%s' \"$@\"\n", roleVariable, own)
	return kerneltest.WriteProgram(filepath.Join(imaginary.dir, "nvcc"), script)
}

func buildLibrary(path string, source []byte) error {
	command := exec.Command("cc", "-shared", "-fPIC", "-O1", "-w", "-o", path, "-x", "c", "-")
	command.Stdin = bytes.NewReader(source)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("the C compiler: %w\n%s", err, output)
	}
	return nil
}

// rig is a backend on the imaginary driver, with its evaluator.
type rig struct {
	*objective.Evaluator
	t        *testing.T
	kernel   *kernels.Kernel
	workload kernels.Workload
	backend  *Backend
	// imagined is the environment of every process that uses the driver.
	imagined []string
	ledgers  string
	locks    string
}

// settings is what a test wants of its rig.
type settings struct {
	kernel      string // a folder in testdata; empty for add
	folder      string // of the kernel, if it is not in testdata
	workload    string
	environment map[string]string // of the imaginary driver
	options     objective.Options
	notice      func(string)
	management  bool // whether there is a management library
}

func newRig(t *testing.T, s settings) *rig {
	t.Helper()
	if s.options.RunTimeout == 0 {
		s.options.RunTimeout = time.Minute // nothing here hangs unless a test wants it to
	}
	k, err := kernels.Load(cmp.Or(s.folder, filepath.Join("testdata", cmp.Or(s.kernel, "add"))), kernels.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, kernel: k, ledgers: t.TempDir(), locks: t.TempDir()}
	r.imagined = append(imagine(t, s), "PAWL_FAKE_LEDGER="+r.ledgers, "TMPDIR="+r.locks)
	if r.workload, err = k.Workload(s.workload); err != nil {
		t.Fatal(err)
	}
	if r.backend, err = imaginaryBackend(t.Context(), imaginaryFolder(t), r.imagined, k, r.workload, s.notice); err !=
		nil {
		t.Fatal(err)
	}
	r.backend.locks = r.locks
	r.Evaluator = objective.NewEvaluator(k, r.workload, elsewhere{r}, s.options)
	t.Cleanup(func() {
		r.Close()
		r.lawful()
	})
	return r
}

// elsewhere is a rig's backend whose workers find the imaginary driver. The
// variables are the workers' own, so that tests can run beside each other.
type elsewhere struct{ *rig }

var _ objective.Backend = elsewhere{}

func (e elsewhere) Preflight(p space.Point) *objective.Failure { return e.backend.Preflight(p) }
func (e elsewhere) Compile(ctx context.Context, p space.Point) (objective.Binary, *objective.Failure, error) {
	return e.backend.Compile(ctx, p)
}
func (e elsewhere) Reference(ctx context.Context, given space.Point) (objective.Binary, error) {
	return e.backend.Reference(ctx, given)
}
func (e elsewhere) Reserve(ctx context.Context, p space.Point) (worker.Slot, error) {
	slot, err := e.backend.Reserve(ctx, p)
	slot.Worker.Environment = append(slot.Worker.Environment, e.imagined...)
	return slot, err
}
func (e elsewhere) Facts() objective.Facts { return e.backend.Facts() }

// imagine returns the variables by which a process finds the imaginary driver.
func imagine(t *testing.T, s settings) []string {
	t.Helper()
	folder := imaginaryFolder(t)
	libraries := folder
	if !s.management {
		libraries = t.TempDir()
		if err := os.Symlink(filepath.Join(folder, "libcuda.so.1"), filepath.Join(libraries, "libcuda.so.1")); err != nil {
			t.Fatal(err)
		}
	}
	variables := []string{"LD_LIBRARY_PATH=" + libraries, folderVariable + "=" + folder}
	for name, value := range s.environment {
		variables = append(variables, name+"="+value)
	}
	return variables
}

// folderVariable tells a process in another role where the imaginary driver is.
const folderVariable = "PAWL_TEST_IMAGINARY"

// fakeCompiler is the fake nvcc, asked for its version once per process: it is this
// binary again, which takes long to start with the race detector.
var fakeCompiler struct {
	once sync.Once
	tool *nvcc.Toolchain
	err  error
}

func imaginaryCompiler(folder string) (*nvcc.Toolchain, error) {
	fakeCompiler.once.Do(func() {
		fakeCompiler.tool, fakeCompiler.err = nvcc.Find(context.Background(), func(name string) string {
			return map[string]string{"NVCC": filepath.Join(folder, "nvcc"), "NVCC_CCBIN": "cc"}[name]
		})
	})
	return fakeCompiler.tool, fakeCompiler.err
}

// imaginaryBackend opens the backend of a test, in its process or in another
// one that it has started.
func imaginaryBackend(ctx context.Context, folder string, imagined []string, k *kernels.Kernel, w kernels.Workload,
	notice func(string)) (*Backend, error) {
	tool, err := imaginaryCompiler(folder)
	if err != nil {
		return nil, err
	}
	compiled, err := cache.Open(filepath.Join(folder, "cache"))
	if err != nil {
		return nil, err
	}
	found, err := askGPUs(imagined)
	if err == nil && found.Error != "" {
		err = errors.New(found.Error)
	}
	if err != nil {
		return nil, err
	}
	return New(ctx, k, w,
		Options{Cache: compiled, Tool: tool, GPUs: found.GPUs, DriverVersion: "580.65.06", Notice: notice})
}

// at returns the point that differs from the default in the given values.
func (r *rig) at(text string) space.Point {
	r.t.Helper()
	if text == "" {
		return r.kernel.Default()
	}
	partial, err := space.ParsePoint(text)
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := r.kernel.Space(r.workload)
	if err != nil {
		r.t.Fatal(err)
	}
	point, err := s.Complete(partial)
	if err != nil {
		r.t.Fatal(err)
	}
	return point
}

// prepare compiles a point that can be compiled.
func (r *rig) prepare(text string) objective.Prepared {
	r.t.Helper()
	p, err := r.Prepare(r.t.Context(), r.at(text))
	if err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
	return p
}

// measure takes a point through all stages.
func (r *rig) measure(text string) objective.Outcome {
	r.t.Helper()
	outcome, err := r.Measure(r.t.Context(), r.prepare(text), 0)
	if err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
	return outcome
}

// passes measures a point that must pass.
func (r *rig) passes(text string) objective.Outcome {
	r.t.Helper()
	outcome := r.measure(text)
	if outcome.Failure != nil {
		r.t.Fatalf("%q: %s", text, outcome.Failure)
	}
	return outcome
}

// fails measures a point that must fail, and returns the detail.
func (r *rig) fails(text string, stage objective.Stage, reason string) string {
	r.t.Helper()
	failure := r.measure(text).Failure
	if failure == nil {
		r.t.Errorf("%s passes", text)
		return ""
	}
	if failure.Stage != stage || failure.Reason != reason {
		r.t.Errorf("%s: got %s, want %s: %s", text, failure, stage, reason)
	}
	return failure.Detail
}

// ledger is what the imaginary driver has counted in one process. The fields
// are those of driver/testdata/driver.c.
type ledger struct {
	Device                                                                      int64
	Blocks, Bytes, Modules, Streams, Events, Graphs, Executables, Contexts      int64
	Allocations, Fills, Launches, GraphLaunches, Flushes, GraphNodes, GraphBufs int64
	Profiled                                                                    int64
	Violations                                                                  int64
	Violation                                                                   [256]byte
}

// books returns the ledger of every process, by its number.
func (r *rig) books() map[int]ledger {
	r.t.Helper()
	entries, err := os.ReadDir(r.ledgers)
	if err != nil {
		r.t.Fatal(err)
	}
	books := map[int]ledger{}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(r.ledgers, entry.Name()))
		if err != nil {
			r.t.Fatal(err)
		}
		if len(content) == 0 {
			continue // a process that has just begun
		}
		var l ledger
		if err := binary.Read(bytes.NewReader(content), binary.NativeEndian, &l); err != nil {
			r.t.Fatal(err)
		}
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			r.t.Fatal(err)
		}
		if l.Contexts > 0 { // and not only a look at the devices
			books[pid] = l
		}
	}
	return books
}

// worker returns the only worker that runs, and its ledger.
func (r *rig) worker() (int, ledger) {
	r.t.Helper()
	var found []int
	books := r.books()
	for pid := range books {
		if running(pid) {
			found = append(found, pid)
		}
	}
	if len(found) != 1 {
		r.t.Fatalf("workers %v", found)
	}
	return found[0], books[found[0]]
}

// lawful makes sure that nobody broke a rule of the driver.
func (r *rig) lawful() {
	for pid, book := range r.books() {
		if book.Violations > 0 {
			text, _, _ := strings.Cut(string(book.Violation[:]), "\x00")
			r.t.Errorf("worker %d: %d violations, the first: %s", pid, book.Violations, text)
		}
		if running(pid) {
			r.t.Errorf("worker %d is still there", pid)
		}
	}
}

// running reports whether a process runs; a zombie does not.
func running(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(status), ") Z ")
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 5000 {
		if !running(pid) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// answer is what the role gpus prints.
type answer struct {
	GPUs    GPUs
	Error   string
	Missing bool // the error is driver.ErrNoDriver
}

// askGPUs asks the driver in a process of its own.
func askGPUs(imagined []string) (answer, error) {
	output, err := roleCommand("gpus", imagined).Output()
	var a answer
	if err == nil {
		err = json.Unmarshal(output, &a)
	}
	return a, err
}
