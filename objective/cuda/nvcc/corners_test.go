package nvcc

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"pawl/internal/kerneltest"
	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/space"
)

var cornerLimit = flag.Int("corners", thorough.Count(1, 0), "how many points of each kernel's space to compile; "+
	"0: until every value has occurred and every two extremes have met; -1: until every two values have")

// TestCorners compiles every embedded CUDA kernel at its default and at the
// corners of its space.
func TestCorners(t *testing.T) {
	withCUDA := kerneltest.NamesFor(kernels.CUDA)
	for _, name := range kernels.Names() {
		if !slices.Contains(withCUDA, name) {
			requireNoCUDA(t, name)
			continue
		}
		k, err := kernels.Load(name, kernels.CUDA)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { compileCorners(t, k, newCompiler(t, realNVCC(t))) })
	}
}

// requireNoCUDA makes sure that a kernel which cannot be loaded for CUDA does
// not pretend to be one.
func requireNoCUDA(t *testing.T, name string) {
	t.Helper()
	k, err := kernels.Load(name, kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := k.Materialise(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := fs.ReadFile(os.DirFS(dir), kernels.ManifestName)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains("\n"+string(manifest), "\ncuda:") {
		t.Errorf("kernel %s has a section for CUDA and no source", name)
	}
	if sources, _ := filepath.Glob(filepath.Join(dir, "*.cu")); len(sources) > 0 {
		t.Errorf("kernel %s has %v, which its manifest does not name", name, sources)
	}
}

// compileCorners compiles the corners once for all workloads that are the same to the
// compiler. With all of them, every value of every parameter is compiled at least once.
// Workloads with the valid points of others, such as those of another type of elements,
// have every value compiled, and not also every two extremes.
func compileCorners(t *testing.T, k *kernels.Kernel, c *Compiler) {
	constants := map[string][]kernels.Constant{}
	spaces := map[string][]*space.Space{}
	var order []string
	for _, w := range k.Workloads {
		list, err := k.Constants(w.Dims)
		if err != nil {
			t.Fatal(err)
		}
		s, err := k.Space(w)
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprint(list)
		if spaces[key] == nil {
			order = append(order, key)
		}
		constants[key], spaces[key] = list, append(spaces[key], s)
	}
	var covered []*corners
	if *cornerLimit > 0 {
		order = order[:1] // a sample of the kernel
	}
	for _, key := range order {
		points := newCorners(t, spaces[key])
		again := slices.ContainsFunc(covered, func(other *corners) bool {
			return slices.EqualFunc(other.rows, points.rows, func(a, b space.Row) bool { return slices.Equal(a, b) })
		})
		compilePoints(t, k, unitOf(k, materialised(t, k, c)), chooseCorners(points, again), constants[key], c)
		t.Logf("constants %s: %d of %d points", key, len(points.chosen), len(points.rows))
		covered = append(covered, points)
	}
	if *cornerLimit > 0 {
		return
	}
	for i, p := range covered[0].space.Params() {
		for v, value := range p.Values {
			if !slices.ContainsFunc(covered, func(c *corners) bool { return c.has(i, uint16(v)) }) {
				t.Errorf("%s=%s occurs in no valid point of any workload", p.Name, value)
			}
		}
	}
}

func chooseCorners(c *corners, again bool) []space.Point {
	switch {
	case *cornerLimit > 0:
		return c.choose(*cornerLimit, worthPair)
	case again:
		return c.choose(len(c.rows), worthValue)
	case *cornerLimit == 0:
		return c.choose(len(c.rows), worthExtremes)
	default:
		return c.choose(len(c.rows), worthPair)
	}
}

func materialised(t *testing.T, k *kernels.Kernel, c *Compiler) string {
	t.Helper()
	dir, err := k.Materialise(c.Cache.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func compilePoints(t *testing.T, k *kernels.Kernel, unit Unit, chosen []space.Point, constants []kernels.Constant,
	c *Compiler) {
	var lanes errgroup.Group
	lanes.SetLimit(runtime.NumCPU())
	for points := range slices.Chunk(chosen[1:], together) {
		all := joined(t, k, unit, points, constants)
		lanes.Go(func() error {
			module, err := c.Compile(t.Context(), all)
			if err != nil { // one of them, or being together: only the points themselves count
				t.Logf("%d points together: %v", len(points), err)
				for _, point := range points {
					compilePoint(t, k, unit, point, constants, c)
				}
				return nil
			}
			for i, point := range points {
				checkFigures(t, entryAt(k, i), point, module)
			}
			return nil
		})
	}
	lanes.Go(func() error { compilePoint(t, k, unit, chosen[0], constants, c); return nil })
	_ = lanes.Wait() // the lanes report through t
}

func compilePoint(t *testing.T, k *kernels.Kernel, unit Unit, point space.Point, constants []kernels.Constant,
	c *Compiler) {
	unit.Defines = definesOf(point, constants)
	module, err := c.Compile(t.Context(), unit)
	if err != nil {
		t.Errorf("%s: %v", point, err)
		return
	}
	checkFigures(t, k.Entry, point, module)
}

// unitOf is a kernel whose files are in a folder, without its parameters.
func unitOf(k *kernels.Kernel, dir string) Unit {
	architecture, flags := Named(k.Flags)
	if k.ArchSpecific || architecture == "" {
		architecture = cmp.Or(k.Architecture, "sm_90")
	}
	return Unit{Dir: dir, Source: k.Source, Architecture: architecture, Flags: flags}
}

func definesOf(point space.Point, constants []kernels.Constant) []Define {
	var defines []Define
	for _, c := range constants {
		defines = append(defines, Define{c.Name, c.Value})
	}
	for _, a := range point.Assignments() {
		defines = append(defines, Define{a.Name, a.Value.Define()})
	}
	return defines
}

// checkFigures holds what ptxas said against what must be true of any kernel.
func checkFigures(t *testing.T, entry string, point space.Point, module Module) {
	t.Helper()
	r, ok := module.Kernels[entry]
	switch {
	case !ok:
		t.Errorf("%s: no kernel %s in the module, only %v", point, entry, module.Kernels)
	case r.Registers < 1 || r.Registers > 255:
		t.Errorf("%s: %d registers", point, r.Registers)
	case r.SpillLoads > 0 && r.SpillStores == 0:
		t.Errorf("%s: loads of what was never stored: %+v", point, r)
	case r.SpillStores > 0 && r.Stack == 0:
		t.Errorf("%s: spills without a stack: %+v", point, r)
	case r.StaticShared < 0 || r.StaticShared > 48<<10:
		t.Errorf("%s: %d bytes of static shared memory", point, r.StaticShared)
	case r.Barriers < 0 || r.Barriers > 16:
		t.Errorf("%s: %d barriers", point, r.Barriers)
	case len(module.Digest) != 64:
		t.Errorf("%s: digest %q", point, module.Digest)
	}
	content, err := os.ReadFile(module.Path)
	if err != nil {
		t.Fatal(err)
	}
	// The cubin tells the registers as well, in another way.
	if n := registersInCubin(t, content, entry); n != r.Registers {
		t.Errorf("%s: ptxas says %d registers, the cubin %d", point, r.Registers, n)
	}
}

// The embedded kernels may have no CUDA source yet: the corners of a kernel
// that has one show that the test above can fail.
func TestCornersOfAKnownKernel(t *testing.T) {
	dir := tree(t, map[string]string{"kernel.yaml": `
name: copy
entry: copy
source: {cuda: copy.cu}
reference: {cuda: copy.cu}
params:
  TILE: {values: [32, 64, 128], default: 64}
  UNROLL: {values: [1, 2, 4], default: 1}
constraints: ["TILE * UNROLL <= 256"]
workloads: {small: {N: 1000}}
launch: {grid: ["cdiv(N, TILE)"], block: [TILE]}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [1, 7]}
tolerance: {atol: 0, rtol: 0}
`, "copy.cu": `
extern "C" __global__ void copy(const float *x, float *y, int n) {
	__shared__ float tile[TILE];
#pragma unroll
	for (int u = 0; u < UNROLL; u++) {
		int i = (blockIdx.x * UNROLL + u) * TILE + threadIdx.x;
		tile[threadIdx.x] = i < n ? x[i] : 0;
		__syncthreads();
		if (i < n) y[i] = tile[threadIdx.x ^ 1];
	}
}
`})
	k, err := kernels.Load(dir, kernels.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Space(k.Workloads[0])
	if err != nil {
		t.Fatal(err)
	}
	texts := func(points []space.Point) string {
		var texts []string
		for _, p := range points {
			texts = append(texts, p.String())
		}
		return strings.Join(texts, " ")
	}
	// Both ends of both, as far as they are valid together, and the two values between.
	want := "TILE=64,UNROLL=1 TILE=32,UNROLL=4 TILE=128,UNROLL=2 TILE=32,UNROLL=1 TILE=128,UNROLL=1"
	if got := texts(newCorners(t, []*space.Space{s}).choose(100, worthExtremes)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := newCorners(t, []*space.Space{s}).choose(100, worthPair); len(got) != 8 { // all that is valid
		t.Errorf("every two values: %s", texts(got))
	}
	if got := newCorners(t, []*space.Space{s}).choose(2, worthPair); len(got) != 2 {
		t.Errorf("two of them: %s", texts(got))
	}
	c := newCompiler(t, realNVCC(t))
	compileCorners(t, k, c)

	// Points that are compiled together have their own macros: a tile of floats each.
	points := newCorners(t, []*space.Space{s}).choose(100, worthPair)
	module := compileUnit(t, c, joined(t, k, unitOf(k, dir), points, nil))
	for i, p := range points {
		tile, _ := p.Get("TILE")
		if got := module.Kernels[entryAt(k, i)].StaticShared; fmt.Sprint(got/4) != tile.String() {
			t.Errorf("%s has %d bytes of shared memory", p, got)
		}
	}
}
