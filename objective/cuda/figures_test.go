package cuda

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unsafe"

	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/objective"
	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
	"pawl/space"
)

// h200 is what the driver says about one.
var h200 = driver.Attributes{
	Name: "NVIDIA H200", UUID: firstUUID, Major: 9, Minor: 0, Memory: 150 << 30, Multiprocessors: 132,
	ThreadsPerBlock: 1024, Block: [3]int{1024, 1024, 64}, Grid: [3]int{1<<31 - 1, 65535, 65535},
	RegistersPerBlock: 65536, SharedPerBlock: 232448, SharedPerProcessor: 233472, L2: 50 << 20,
	Clock: 1980000, MemoryClock: 3201000, MemoryBusWidth: 6144,
}

func TestRoofline(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got/want-1) < 1e-3 }
	half := roofline(h200, []string{"f16", "f16", "i32"})
	// 132 multiprocessors * 4096 operations * 1.98 GHz = 1070.5 TFLOP/s;
	// 2 * 3.201 GHz * 768 bytes = 4.917 TB/s.
	if !near(half.Flops, 1070.5e12) || !near(half.Bytes, 4.9167e12) {
		t.Errorf("%+v", half)
	}
	for _, narrow := range []string{"u8", "e4m3", "e5m2"} {
		if got := roofline(h200, []string{"f16", narrow, "u8"}); !near(got.Flops, 2*1070.5e12) || got.Bytes != half.Bytes {
			t.Errorf("with %s: %+v", narrow, got)
		}
	}
	unknown := h200
	unknown.Major = 99
	if got := roofline(unknown, nil); got.Flops != 0 || got.Bytes == 0 {
		t.Errorf("of a GPU that nobody knows: %+v", got)
	}
}

func TestAlike(t *testing.T) {
	same, other, older := h200, h200, h200
	same.UUID, other.Name, older.Major = secondUUID, "NVIDIA L4", 8
	got := GPUs{Devices: []driver.Attributes{h200, other, same, older}}.Alike()
	if len(got) != 2 || got[0].UUID != firstUUID || got[1].UUID != secondUUID {
		t.Errorf("%+v", got)
	}
}

func TestLimits(t *testing.T) {
	k, err := kernels.Load("attention", kernels.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	w, err := k.Workload("")
	if err != nil {
		t.Fatal(err)
	}
	if failure := NewLimits(k, w, h200).Preflight(k.Default()); failure != nil {
		t.Fatalf("the default on an H200: %s", failure)
	}
	// The default has 128 threads in x, a grid of 8 x 256 x 1, and
	// 2 * 64 * (64 + 2 * 2 * 64) = 40960 bytes of shared memory.
	for name, test := range map[string]struct {
		change func(*driver.Attributes)
		detail string
	}{
		"threads": {func(a *driver.Attributes) { a.ThreadsPerBlock = 127 }, "128 threads in a block; the GPU takes 127"},
		"block": {func(a *driver.Attributes) { a.Block[0] = 64 },
			"128 threads in dimension 0 of a block; the GPU takes 64"},
		"grid": {func(a *driver.Attributes) { a.Grid[1] = 255 },
			"256 blocks in dimension 1 of the grid; the GPU takes 255"},
		"shared": {func(a *driver.Attributes) { a.SharedPerBlock = 40959 },
			"40960 bytes of shared memory; the GPU gives a block 40959"},
	} {
		gpu := h200
		test.change(&gpu)
		failure := NewLimits(k, w, gpu).Preflight(k.Default())
		if failure == nil || failure.Stage != objective.Preflight || failure.Reason != objective.Infeasible ||
			failure.Detail != test.detail {
			t.Errorf("%s: %v", name, failure)
		}
	}
	if failure := NewLimits(k, w, h200).Preflight(space.Point{}); failure == nil {
		t.Error("a point without parameters has a launch")
	}
	limits := NewLimits(k, w, h200)
	calls, err := limits.calls(k.Default())
	if err != nil {
		t.Fatal(err)
	}
	figures := []objective.Resources{{Registers: 255, StaticShared: 232448 - 40960}}
	if fits, failure := limits.afterCompile(calls, figures); failure != nil || fits.Shared != 40960 {
		t.Errorf("%v, %+v", failure, fits)
	}
	figures[0].StaticShared++
	if _, failure := limits.afterCompile(calls, figures); failure == nil ||
		!strings.Contains(failure.Detail, "232449 bytes of shared memory, 191489 of them") {
		t.Errorf("%v", failure)
	}
}

func TestEveryCodeOfALaunchHasAFault(t *testing.T) {
	want := map[driver.Code]worker.FaultKind{1: worker.Refused, 2: worker.NoMemory}
	for code, kind := range codes {
		want[driver.Code(code)] = kind
	}
	for code := range driver.Code(1100) {
		err := fault(&driver.Error{Call: "cuLaunchKernel", Code: code, Name: "NAME", Meaning: "meaning"})
		failed, blamed := err.(*worker.Fault)
		if kind, known := want[code]; known != blamed || blamed && failed.Kind != kind {
			t.Errorf("%d: %v, want %q", code, err, kind)
		}
		if blamed && failed.Detail != "cuLaunchKernel: NAME (meaning)" {
			t.Errorf("%d: %s", code, failed.Detail)
		}
	}
	if fault(nil) != nil {
		t.Error("nothing is a fault")
	}
}

func TestProblemKey(t *testing.T) {
	base := worker.Load{
		Module: "one", Support: "support", Calls: []kernels.Call{{Entry: "add"}},
		Arguments: []arguments.Binding{{Name: "a", Type: "f32", Count: 64}}, Seed: 1, Layout: worker.Guarded,
		Reference: &worker.Reference{Module: "reference", Tolerance: arguments.Tolerance{Absolute: 1}},
	}
	key := func(change func(*worker.Load)) [32]byte {
		t.Helper()
		load := base
		load.Arguments = append([]arguments.Binding{}, base.Arguments...)
		reference := *base.Reference
		load.Reference = &reference
		change(&load)
		found, err := problemKey(load)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	same := key(func(*worker.Load) {})
	if key(func(l *worker.Load) { l.Module, l.Calls = "two", []kernels.Call{{Entry: "other"}} }) != same {
		t.Error("another point has another problem")
	}
	if base.Module != "one" {
		t.Error("the load was changed")
	}
	for name, change := range map[string]func(*worker.Load){
		"seed":   func(l *worker.Load) { l.Seed = 2 },
		"layout": func(l *worker.Load) { l.Layout = worker.Aligned },
		"count":  func(l *worker.Load) { l.Arguments[0].Count = 65 },
		"value": func(l *worker.Load) {
			l.Arguments = append(l.Arguments, arguments.Binding{Name: "n", Type: "i32", Values: arguments.Values{Integer: 3}})
		},
		"fill":        func(l *worker.Load) { l.Arguments[0].Fill = "ones" },
		"reference":   func(l *worker.Load) { l.Reference.Module = "other" },
		"no judge":    func(l *worker.Load) { l.Reference = nil },
		"more blocks": func(l *worker.Load) { l.Reference.Call.Grid[0] = 2 },
	} {
		if key(change) == same {
			t.Errorf("%s: the same problem", name)
		}
	}
}

// The driver reads an array of pointers, each to the bytes of one argument.
func TestParametersLieAsTheDriverReadsThem(t *testing.T) {
	p, err := newParameters(3)
	if err != nil {
		t.Fatal(err)
	}
	defer p.free()
	p.setAddress(0, 0x7f0011223344)
	p.setWord(1, math.Float64bits(0.5))
	element, err := element.Named("i32")
	if err != nil {
		t.Fatal(err)
	}
	element.Store(p.value(2), -7)
	pointers := unsafe.Slice((*unsafe.Pointer)(p.pointer([]int{0, 1, 2})), 3)
	if got := *(*uint64)(pointers[0]); got != 0x7f0011223344 {
		t.Errorf("the address is %#x", got)
	}
	if got := *(*float64)(pointers[1]); got != 0.5 {
		t.Errorf("the real is %g", got)
	}
	if got := *(*int32)(pointers[2]); got != -7 {
		t.Errorf("the integer is %d", got)
	}
	if upper := binary.LittleEndian.Uint32(p.value(2)[4:]); upper != 0 {
		t.Errorf("the bytes behind it are %#x", upper)
	}
	none, err := newParameters(0)
	if err != nil {
		t.Fatal(err)
	}
	none.free()
}

func TestFindings(t *testing.T) {
	f := finding{bad: 2, invertedFirst: ^uint64(41), worst: math.Float64bits(2.5)}
	if f.first() != 41 || f.error() != 2.5 {
		t.Errorf("%d, %g", f.first(), f.error())
	}
}

// Every type that a manifest can name has a number in the support code.
func TestElementNumbers(t *testing.T) {
	source := string(supportSource)
	_, after, _ := strings.Cut(source, "enum {")
	list, _, _ := strings.Cut(after, "}")
	for number, name := range strings.Split(list, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if elementNumbers[name] != uint64(number) {
			t.Errorf("%s is %d in CUDA, %d in Go", name, number, elementNumbers[name])
		}
	}
	for _, name := range []string{"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"} {
		if _, err := element.Named(name); err != nil {
			t.Error(err)
		}
		if _, known := elementNumbers[name]; !known {
			t.Errorf("%s cannot be compared", name)
		}
	}
}
