package check

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/semaphore"

	"pawl/internal/python"
	"pawl/kernels"
	"pawl/kernels/element"
	"pawl/kernels/inputs"
	"pawl/objective/cache"
	"pawl/space"
)

// pythonWith is what a test of references in Python needs: a kernel with that reference, and a
// Python that has NumPy.
func pythonWith(t *testing.T, reference string) (*kernels.Kernel, *Python) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"reference.py": reference,
		"shared.py":    "FACTOR = 2\n",
		"kernel.c":     "void twice(const void *x, int *n, void *y, float a, int N) {}\n",
		kernels.ManifestName: `name: twice
entry: twice
source: {host: kernel.c}
reference: {python: reference.py}
params: {UNROLL: {values: [1, 2], default: 1, reference: true}}
workloads: {small: {N: 5}}
args:
  - {name: x, type: bf16, shape: [2, N], fill: normal}
  - {name: n, type: i32, shape: [N], inout: true, fill: uniform, range: [0, 9]}
  - {name: y, type: f16, shape: [N, 2], out: true}
  - {name: a, type: f32, value: 0.1}
  - {name: N, type: i32, value: N}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	k, err := kernels.Load(dir, kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// The first Python of the tests of Triton has NumPy too.
	first, _, _ := strings.Cut(os.Getenv("PAWL_TEST_TRITON"), ":")
	getenv := func(name string) string {
		if name == python.Variable && first != "" {
			return first
		}
		return os.Getenv(name)
	}
	p := NewPython(getenv, kept)
	server, err := p.find()
	if err == nil {
		err = server.About(t.Context(), &struct{}{})
	}
	if err != nil {
		if os.Getenv("PAWL_REQUIRE_TRITON") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return k, p
}

func ask(t *testing.T, k *kernels.Kernel, p *Python) ([][]byte, cache.Entry, error) {
	t.Helper()
	c := Case{Dims: k.Workloads[0].Dims, Seed: 7}
	bindings, err := c.Bind(k)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := p.answer(t.Context(), k, question{c, k.ReferencePoint(k.Default())}, bindings)
	if err != nil {
		return nil, entry, err
	}
	outputs, err := splitOutputs(entry.Path, bindings)
	return outputs, entry, err
}

// A reference gets doubles and the numbers that it names, and its answer is rounded once.
func TestReferenceInPython(t *testing.T) {
	k, p := pythonWith(t, `
import numpy
from shared import FACTOR

def twice(x, n, a, UNROLL):
    assert x.dtype == numpy.float64 and x.shape == (2, 5) and n.dtype == numpy.int64 and UNROLL == 1
    return n + 1, FACTOR * a * x.T
`)
	outputs, entry, err := ask(t, k, p)
	if err != nil || entry.Hit {
		t.Fatal(entry, err)
	}
	bindings, err := k.Bind(k.Workloads[0].Dims)
	if err != nil {
		t.Fatal(err)
	}
	x, n, want := make([]byte, 20), make([]byte, 20), make([]byte, 20)
	source := inputs.Source{Folder: k.Dir}
	if err := source.Fill(x, bindings[0], 7); err != nil {
		t.Fatal(err)
	}
	if err := source.Fill(n, bindings[1], 7); err != nil {
		t.Fatal(err)
	}
	from, _ := element.Named("bf16")
	to, _ := element.Named("f16")
	for i := range 5 {
		if got := binary.LittleEndian.Uint32(outputs[0][4*i:]); got != binary.LittleEndian.Uint32(n[4*i:])+1 {
			t.Errorf("n[%d] is %d", i, got)
		}
		for j := range 2 {
			to.Store(want[4*i+2*j:], 2*float64(float32(0.1))*from.Load(x[10*j+2*i:]))
		}
	}
	if !bytes.Equal(outputs[1], want) {
		t.Errorf("% x, not % x", outputs[1], want)
	}
	if _, entry, err := ask(t, k, p); err != nil || !entry.Hit {
		t.Errorf("%+v, %v", entry, err)
	}
	// What it imports is part of it.
	if err := os.WriteFile(filepath.Join(k.Dir, "shared.py"), []byte("FACTOR = 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	changed, entry, err := ask(t, k, p)
	if err != nil || entry.Hit || bytes.Equal(changed[1], outputs[1]) {
		t.Errorf("%+v, %v", entry, err)
	}
}

func TestReferenceInPythonSaysWhatIsWrong(t *testing.T) {
	for says, text := range map[string]string{
		"reference.py has no function twice; there are other":        "def other(): pass\n",
		"reference.py: twice takes z, and there are":                 "def twice(z): pass\n",
		"reference.py: twice returns 1 arrays, and the kernel has 2": "def twice(x): return x\n",
		"returns y with the shape [2, 5], not [5, 2]":                "def twice(n, x): return n, x\n",
		"reference.py:2: ZeroDivisionError: division by zero":        "def twice(x):\n    return 1 / 0\n",
		"reference.py: ModuleNotFoundError":                          "import nothing_like_it\n",
	} {
		k, p := pythonWith(t, text)
		if _, _, err := ask(t, k, p); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", says, err)
		}
	}
}

// A kernel without a Python that answers is no kernel that is right.
func TestReferenceInPythonIsPartOfTheQuestion(t *testing.T) {
	k, p := pythonWith(t, "def twice(n, x, UNROLL): return n, UNROLL * x.T\n")
	oracle := NewOracle(k, nil, p)
	defer oracle.Close()
	c := Case{Dims: k.Workloads[0].Dims, Seed: 7}
	bindings, err := c.Bind(k)
	if err != nil {
		t.Fatal(err)
	}
	var files []cache.Entry
	for _, unroll := range []int64{1, 2} {
		point, err := k.Default().With("UNROLL", space.IntegerValue(unroll))
		if err != nil {
			t.Fatal(err)
		}
		entry, err := oracle.ask(question{c, k.ReferencePoint(point)}, bindings).wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, entry)
	}
	if files[0].Digest == files[1].Digest {
		t.Error("the parameter makes no difference")
	}
}

// Answers that are foreseen are worked out in the background, a few at a time, and end with the oracle.
func TestAnswersAreForeseen(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	k, p := pythonWith(t, fmt.Sprintf(`
import os, time

def twice(n, x, N):
    while not os.path.exists("%s" + str(N)):
        time.sleep(0.01)
    return n, x.T
`, gate))
	p.lanes = semaphore.NewWeighted(2)
	oracle := NewOracle(k, nil, p)
	device := OnDevice{Target{Kernel: k, Workload: k.Workloads[0], Oracle: oracle}}
	var cases []Case
	for n := range int64(3) {
		cases = append(cases, Case{Dims: kernels.Dims{"N": n + 1}, Seed: 7})
	}
	if known := device.Foresee(k.Default(), cases, 2); known != 0 {
		t.Errorf("%d answers are known", known)
	}
	if err := os.WriteFile(gate+"1", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	bindings, err := cases[0].Bind(k)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := device.known(t.Context(), k.Default(), cases[0], bindings); err != nil {
		t.Error(err)
	}
	if known := device.Foresee(k.Default(), cases, 1); known != 1 {
		t.Errorf("%d answers are known, not 1", known)
	}
	begun := 0
	oracle.asked.Range(func(any, any) bool { begun++; return true })
	if begun != 2 {
		t.Errorf("%d questions were asked, not 2", begun)
	}
	oracle.Close() // or this test takes as long as a reference may
	if _, err := oracle.ask(question{cases[1], k.ReferencePoint(k.Default())}, nil).wait(t.Context()); err == nil {
		t.Error("a closed oracle answers")
	}
}
