package cuda

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/kernels"
	"pawl/objective/worker"
)

const (
	firstUUID  = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
	secondUUID = "GPU-00010203-0405-0607-0809-0a0b0c0d0e10"
)

// pawl processes keep off a GPU that another one is using, say so when it takes
// long, and have it when the other is gone, however that ended.
func TestLockBetweenProcesses(t *testing.T) {
	t.Parallel()
	notices := make(chan string, 1)
	r := newRig(t, settings{notice: func(text string) { notices <- text }})
	other := startRole(t, "hold", r.imagined)
	if !other.lines.Scan() || other.lines.Text() != "held" {
		t.Fatalf("the other process says %q", other.lines.Text())
	}
	type result struct {
		slot worker.Slot
		err  error
	}
	reserved := make(chan result, 1)
	go func() {
		slot, err := r.backend.Reserve(t.Context(), r.kernel.Default())
		reserved <- result{slot, err}
	}()
	select {
	case text := <-notices:
		if text != "waiting for another pawl process that is using Imaginary H200 "+firstUUID {
			t.Errorf("the notice is %q", text)
		}
	case <-reserved:
		t.Fatal("two processes have the same GPU")
	}
	other.kill()
	got := <-reserved
	if got.err != nil || got.slot.Device != firstUUID {
		t.Fatalf("%+v", got)
	}
	got.slot.Release()
}

func TestWaitingCanBeGivenUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	first := r.slot()
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := r.backend.Reserve(ctx, r.kernel.Default()); !errors.Is(err, reason) {
		t.Errorf("inside a process: %v", err)
	}
	if _, err := lockGPU(ctx, r.locks, first.Device, func() {}); !errors.Is(err, reason) {
		t.Errorf("between processes: %v", err)
	}
}

func TestTwoDevicesShareTheTrials(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{management: true, environment: map[string]string{"PAWL_FAKE_DEVICES": "2"}})
	if width := r.backend.Facts().Width; width != 2 {
		t.Fatalf("width %d", width)
	}
	names := map[string]bool{}
	for range 4 {
		outcome := r.passes("")
		// The management library knows the first only.
		if outcome.Conditions != nil {
			names[outcome.Conditions.Device] = true
			if outcome.Conditions.ClockMedian != 1980 {
				t.Errorf("%+v", outcome.Conditions)
			}
		}
	}
	if len(names) != 1 || !names[firstUUID] {
		t.Errorf("conditions of %v", names)
	}
	devices := map[int64]int{}
	for _, book := range r.books() {
		devices[book.Device]++
	}
	if len(devices) != 2 || devices[15] != 1 || devices[16] != 1 {
		t.Errorf("workers by the last byte of their GPU: %v", devices)
	}
	one, two := r.slot(), r.slot()
	if one.Device == two.Device ||
		one.Device+two.Device != firstUUID+secondUUID && two.Device+one.Device != firstUUID+secondUUID {
		t.Errorf("slots %s and %s", one.Device, two.Device)
	}
}

// Another user's process on the GPU is named with the samples, which are disturbed if
// it computed.
func TestOtherProcessesAreNamed(t *testing.T) {
	t.Parallel()
	for busy, disturbed := range map[string]bool{"70": true, "0": false} {
		r := newRig(t,
			settings{management: true, environment: map[string]string{"PAWL_FAKE_OTHER": "1", "PAWL_FAKE_BUSY": busy}})
		c := r.passes("").Conditions
		if c == nil || len(c.OtherProcesses) != 1 || c.Disturbed != disturbed ||
			!strings.Contains(c.OtherProcesses[0], "process 1") ||
			!strings.HasSuffix(c.OtherProcesses[0], "with 3 GiB, computing "+busy+" % of the time") {
			t.Errorf("%+v", c)
		}
	}
}

func TestVisibleDevicesAreHonoured(t *testing.T) {
	t.Parallel()
	found := ask(t,
		imagine(t, settings{environment: map[string]string{"PAWL_FAKE_DEVICES": "2", "CUDA_VISIBLE_DEVICES": secondUUID}}))
	if gpus := found.GPUs.Devices; len(gpus) != 1 || gpus[0].UUID != secondUUID || gpus[0].Bus != "0000:1C:00.0" {
		t.Errorf("%+v", found)
	}
}

// A process that dies leaves no worker, even one in the middle of a launch that
// does not end.
func TestWorkerEndsWithItsParent(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	parent := startRole(t, "trial", r.imagined)
	pid := 0
	for range 10000 {
		for worker, book := range r.books() {
			if book.Launches > 0 {
				pid = worker
			}
		}
		if pid != 0 {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	if pid == 0 {
		t.Fatal("the trial has not begun")
	}
	parent.kill()
	gone(t, pid)
}

// ask asks for the GPUs, where something may be missing.
func ask(t *testing.T, imagined []string) answer {
	t.Helper()
	a, err := askGPUs(imagined)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestNoDevice(t *testing.T) {
	t.Parallel()
	a := ask(t, imagine(t, settings{environment: map[string]string{"PAWL_FAKE_DEVICES": "0"}}))
	if !a.Missing || a.Error != "no usable CUDA driver: no GPU is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES" {
		t.Errorf("%+v", a)
	}
}

func TestNoDriver(t *testing.T) {
	t.Parallel()
	a := ask(t, []string{"LD_LIBRARY_PATH=" + t.TempDir()})
	if a.Error == "" {
		t.Skip("this machine has a driver of its own")
	}
	if !a.Missing || !strings.HasPrefix(a.Error, "no usable CUDA driver: libcuda.so.1 cannot be opened") ||
		!strings.HasSuffix(a.Error, "install the NVIDIA driver") {
		t.Errorf("%+v", a)
	}
}

// A worker whose GPU has gone says so, and that is nobody's point.
func TestDriverThatFailsInTheWorker(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	p := r.prepare("")
	r.imagined = append(r.imagined, "PAWL_FAKE_INIT=803")
	outcome, err := r.Measure(t.Context(), p, 0)
	if err == nil || !strings.Contains(err.Error(), "different versions") {
		t.Errorf("%+v, %v", outcome, err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	e := r.backend.Facts().Environment
	if e.Backend != kernels.CUDA || e.Device != "Imaginary H200" || e.Driver != "580.65.06, CUDA 13.1" ||
		e.Compiler != "nvcc 13.0.88 for sm_90" {
		t.Errorf("%+v", e)
	}
}

func TestNothingStaysInTheTemporaryFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	r.passes("")
	left, err := filepath.Glob(filepath.Join(r.locks, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || filepath.Base(left[0]) != "pawl-"+firstUUID+".lock" {
		t.Errorf("beside the lock: %v", left)
	}
}

// A kernel for another architecture is refused once, before anything is compiled.
func TestKernelsForAnotherArchitecture(t *testing.T) {
	for _, test := range []struct {
		architecture string
		flags        []string
		refused      string
	}{
		{"sm_90a", nil, ""},
		{"", []string{"-arch=sm_90a"}, ""},
		{"", []string{"-arch=sm_80"}, ""}, // the device decides
		{"sm_100a", nil, "sm_100a"},
		{"", []string{"-gencode", "arch=compute_100a,code=sm_100a"}, "sm_100a"},
	} {
		k, err := kernels.Load("testdata/add", kernels.CUDA)
		if err != nil {
			t.Fatal(err)
		}
		k.Architecture, k.Flags = test.architecture, test.flags
		w, err := k.Workload("")
		if err != nil {
			t.Fatal(err)
		}
		_, err = imaginaryBackend(t.Context(), imaginaryFolder(t), imagine(t, settings{}), k, w, nil)
		if test.refused == "" {
			if err != nil {
				t.Errorf("%+v: %v", test, err)
			}
			continue
		}
		want := "kernel add needs a GPU of architecture " + test.refused +
			"; this one is sm_90, Imaginary H200: use another GPU or another kernel"
		if err == nil || err.Error() != want {
			t.Errorf("%+v: %v", test, err)
		}
		failure := NewLimits(k, w, h200).Preflight(k.Default())
		if failure == nil || !strings.Contains(failure.Detail, test.refused) {
			t.Errorf("%+v: preflight says %v", test, failure)
		}
	}
}
