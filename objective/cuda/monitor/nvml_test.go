//go:build linux

package monitor

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// childVariable names the library that a child process of the tests loads. Each
// library has its own process, because go-nvml binds its calls for good to the
// first library that answers.
const childVariable = "PAWL_TEST_MONITOR_LIBRARY"

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		child(path)
		return
	}
	os.Exit(m.Run())
}

// visit is what a child has seen.
type visit struct {
	Error     string
	Inventory Inventory
	State     State
	Limits    Limits
	Locked    State
	Restored  State
	LockError string
	Missing   string // the error of a GPU that is not there
	Again     State  // after everything was closed once
}

func child(path string) {
	var seen visit
	if err := seen.make(path); err != nil {
		seen.Error = err.Error()
		if !errors.Is(err, ErrUnavailable) {
			seen.Error += " (not ErrUnavailable)"
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(seen); err != nil {
		os.Exit(1)
	}
}

func (v *visit) make(path string) error {
	library, err := load(path)
	if err != nil {
		return err
	}
	if v.Inventory, err = inventory(library, Permission{}); err != nil {
		return err
	}
	library.close()
	monitor, err := reopen(path, testUUID)
	if err != nil {
		return err
	}
	if v.State, err = monitor.Read(); err != nil {
		return err
	}
	if v.Limits, err = readLimits(monitor.device); err != nil {
		return err
	}
	if err := v.lock(monitor); err != nil {
		return err
	}
	monitor.Close()
	if _, err := reopen(path, "GPU-missing"); err != nil {
		v.Missing = err.Error()
	}
	if err := crowd(path); err != nil {
		return err
	}
	if monitor, err = reopen(path, testUUID); err != nil {
		return err
	}
	defer monitor.Close()
	v.Again, err = monitor.Read()
	return err
}

func (v *visit) lock(monitor *Monitor) error {
	lock, err := monitor.LockClocks(1500)
	if err != nil {
		v.LockError = err.Error()
		return nil
	}
	if v.Locked, err = monitor.Read(); err != nil {
		return err
	}
	if err := lock.Restore(); err != nil {
		return err
	}
	v.Restored, err = monitor.Read()
	return err
}

// crowd uses the library from several goroutines, for the race detector.
func crowd(path string) error {
	failures := make(chan error)
	const goroutines = 4
	for range goroutines {
		go func() {
			monitor, err := reopen(path, testUUID)
			if err != nil {
				failures <- err
				return
			}
			defer monitor.Close()
			_, err = inventory(monitor.library, Permission{})
			failures <- err
		}()
	}
	var all error
	for range goroutines {
		all = errors.Join(all, <-failures)
	}
	return all
}

func reopen(path, uuid string) (*Monitor, error) {
	library, err := load(path)
	if err != nil {
		return nil, err
	}
	return open(library, uuid)
}

// visiting compiles the test library and lets a child visit it.
func visiting(t *testing.T, flags ...string) visit {
	t.Helper()
	path := filepath.Join(t.TempDir(), "library.so")
	arguments := append([]string{"-shared", "-fPIC", "-O0", "-w", "-o", path, "testdata/library.c"}, flags...)
	if output, err := exec.Command("cc", arguments...).CombinedOutput(); err != nil {
		t.Fatalf("the C compiler: %v\n%s", err, output)
	}
	return inChild(t, path)
}

func inChild(t *testing.T, path string) visit {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+path, "GORACE=atexit_sleep_ms=0")
	var complaints bytes.Buffer
	command.Stderr = &complaints
	output, err := command.Output()
	var seen visit
	if err == nil {
		err = json.Unmarshal(output, &seen)
	}
	if err != nil {
		t.Fatalf("the child: %v\n%s%s", err, output, &complaints)
	}
	return seen
}

func TestRecentDriver(t *testing.T) {
	t.Parallel()
	seen := visiting(t)
	if seen.Error != "" || seen.LockError != "" {
		t.Fatalf("got %q, %q", seen.Error, seen.LockError)
	}
	// The values are those of testdata/library.c.
	state := State{SMClock: 1980, Temperature: 41, Power: 123.456, Reasons: 1<<63 | Idle}
	if seen.State != state || seen.Restored != state || seen.Again != state {
		t.Errorf("states %+v, %+v, %+v", seen.State, seen.Restored, seen.Again)
	}
	if seen.Limits != (Limits{SMClock: 1995, Power: 700}) {
		t.Errorf("limits %+v", seen.Limits)
	}
	if seen.Locked.SMClock != 1500 {
		t.Errorf("locked %+v", seen.Locked)
	}
	if !strings.Contains(seen.Missing, "there is no such GPU") {
		t.Errorf("a GPU that is not there: %s", seen.Missing)
	}
	checkInventory(t, seen.Inventory, state)
}

func checkInventory(t *testing.T, found Inventory, state State) {
	t.Helper()
	if found.Driver != "580.65.06" || found.CUDA != "13.1" || len(found.GPUs) != 2 {
		t.Fatalf("got %+v", found)
	}
	gpu := found.GPUs[0]
	if gpu.Name != "Test GPU" || gpu.UUID != testUUID {
		t.Errorf("names %q, %q", gpu.Name, gpu.UUID)
	}
	if gpu.MemoryUsed != 1<<30 || gpu.State != state || gpu.Unknown != nil || gpu.Trouble != "" {
		t.Errorf("got %+v", gpu)
	}
	if len(gpu.Processes) != 40 || gpu.Processes[0].PID != 1000 || gpu.Processes[39].PID != 1039 ||
		gpu.Processes[39].Memory != 1<<32 {
		t.Errorf("processes %v", gpu.Processes)
	}
	if !strings.Contains(found.GPUs[1].Trouble, "fallen off the bus") {
		t.Errorf("the second: %+v", found.GPUs[1])
	}
}

// TestOldDriver has no newer calls: none may end the process.
func TestOldDriver(t *testing.T) {
	t.Parallel()
	seen := visiting(t, "-DOLD")
	if seen.Error != "" {
		t.Fatal(seen.Error)
	}
	if want := 1<<63 | SoftwarePowerCap; seen.State.Reasons != want || seen.State.Temperature != 41 {
		t.Errorf("state %+v", seen.State)
	}
	if !strings.Contains(seen.LockError, "too old or too new") {
		t.Errorf("locking: %q", seen.LockError)
	}
	if gpu := seen.Inventory.GPUs[0]; strings.Join(gpu.Unknown, ", ") != "processes" {
		t.Errorf("unknown %q", gpu.Unknown)
	}
}

// TestNewDriver has dropped the calls that are deprecated today.
func TestNewDriver(t *testing.T) {
	t.Parallel()
	seen := visiting(t, "-DNEW")
	if seen.Error != "" || seen.State.Temperature != 42 || seen.State.Reasons != 1<<63|Idle {
		t.Errorf("got %q, %+v", seen.Error, seen.State)
	}
}

func TestDriverThatIsNotLoaded(t *testing.T) {
	t.Parallel()
	if seen := visiting(t, "-DREFUSE"); seen.Error !=
		"the state of the GPU is not available: the NVIDIA driver is not loaded; load it or reboot" {
		t.Errorf("got %q", seen.Error)
	}
}

func TestNoLibrary(t *testing.T) {
	t.Parallel()
	const want = "the state of the GPU is not available: libnvidia-ml.so.1 cannot be loaded; install the NVIDIA driver"
	if seen := inChild(t, filepath.Join(t.TempDir(), "missing.so")); seen.Error != want {
		t.Errorf("got %q", seen.Error)
	}
}

// UnmarshalText reads what a child has written.
func (r *Reasons) UnmarshalText(text []byte) error {
	*r = 0
	for name := range strings.SplitSeq(string(text), ", ") {
		if bit := slices.Index(reasonNames, name); bit >= 0 {
			*r |= 1 << bit
		}
		if bits, unknown := strings.CutPrefix(name, "unknown reason "); unknown {
			value, err := strconv.ParseUint(bits, 0, 64)
			if err != nil {
				return err
			}
			*r |= Reasons(value)
		}
	}
	return nil
}
