package importer

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/space"
)

const tiledProblem = `{"ConfigurationSpace": {
  "TuningParameters": [
    {"Name": "width", "Type": "int", "Values": "[16 * i for i in range(1, 9)]", "Default": 48},
    {"Name": "tile", "Type": "int", "Values": "[2**i for i in range(0, 5) if i != 3]", "Default": 16},
    {"Name": "steps", "Type": "int", "Values": "list(range(1, 4 + 1))", "Default": 1}],
  "Conditions": [
    {"Expression": "width % ((tile * steps) / steps) == 0", "Parameters": ["width", "tile", "steps"]},
    {"Expression": "width / tile >= 3.5", "Parameters": ["width", "tile"]}]},
 "KernelSpecification": {"Language": "CUDA", "KernelName": "blur", "KernelFile": "blur.cu",
  "ProblemSize": [512, 300], "GridDivX": ["width", "tile"], "GridDivY": [],
  "LocalSize": {"X": "width"},
  "Arguments": [
   {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",
    "Size": "ProblemSize[0] * ProblemSize[1]"},
   {"Name": "in", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Random",
    "FillValue": 1.0, "Size": "(ProblemSize[0] + 2 * tile) * ProblemSize[1]"}]}}`

// A file of the community's format whose sizes are formulas, whose values are comprehensions and whose default breaks
// a condition becomes a kernel without a gap but the reference.
func TestT1WithFormulas(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"blur.json": tiledProblem,
		"edge.h":    "#define EDGE(x) (x)\n",
		"blur.cu": "#include \"edge.h\"\n__global__ void blur(float *out, const float *in) { " +
			"out[threadIdx.x] = EDGE(in[0]); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := T1(filepath.Join(dir, "blur.json"), filepath.Join(dir, "blur"))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(folder.Path, kernels.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"width: {values: [16, 32, 48, 64, 80, 96, 112, 128], default: 48}",
		"tile: {values: [1, 2, 4, 16], default: 1}", // 48 / 16 is below 3.5
		"steps: {values: [1, 2, 3, 4], default: 1}",
		`"width % ( ( tile * steps ) / float(steps) ) == 0"`,
		"{name: out, type: f32, shape: [153600], out: true}",
		"{name: in, type: f32, shape: [163200], fill: uniform, range: [0, \"1.0\"]}", // (512 + 32) * 300
		`grid: ["cdiv(512, width * tile)", 300]`,
	} {
		if !strings.Contains(string(manifest), want) {
			t.Errorf("no %s in\n%s", want, manifest)
		}
	}
	notes, gaps := strings.Join(folder.Notes, "; "), strings.Join(folder.Gaps, "; ")
	if !strings.Contains(notes, "the default breaks a restriction: tile=1 instead") ||
		!strings.Contains(notes, "in is as large as for the largest tile") {
		t.Error(notes)
	}
	if len(folder.Gaps) != 1 || !strings.Contains(gaps, "is a copy of the kernel") {
		t.Error(gaps)
	}
	if _, err := os.Stat(filepath.Join(folder.Path, "edge.h")); err != nil {
		t.Error(err)
	}
	k, err := kernels.Load(folder.Path, kernels.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Space(k.Workloads[0])
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// By hand: 16 goes with tiles 1, 2, 4; 32 too; 48 too; 64 and above with 1, 2, 4 and 16 where 16 divides them and
	// they are at least 56: all. So 3 * 3 + 5 * 4 of width and tile, each with 4 steps.
	if pool.Len() != 4*(3*3+5*4) {
		t.Errorf("%d points", pool.Len())
	}
}

// A script whose source is a text that includes a header elsewhere, whose restriction divides, and whose objective is
// over its own problem size.
func TestScriptOfTheHub(t *testing.T) {
	dir := t.TempDir()
	program := python(t)
	if err := exec.Command(program, "-c", "import numpy").Run(); err != nil {
		t.Skip("not run: no numpy: ", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "headers"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"headers/vector.h": "#define LANES 4\n",
		"tune.py": `import kernel_tuner, numpy
problem_size = (256, 128)
source = '#include "vector.h"\n__global__ void k(float *x, int n) { x[0] = n; }'
params = {"KWG": [16, 24, 32], "MDIMC": [8, 16], "NDIMC": [8], "MDIMA": [8, 16, 32]}
params["block_size_x"] = [32]
metrics = {"GFLOP/s": lambda p: 2.0 * problem_size[0] * problem_size[1] / p["time"]}
arguments = [numpy.zeros(4, numpy.float32), numpy.int32(7)]
kernel_tuner.tune_kernel("k", source, problem_size, arguments, params, lang="CUDA", metrics=metrics,
                         objective="GFLOP/s", restrictions=["KWG % ((MDIMC * NDIMC) / MDIMA) == 0"])
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	k := KernelTuner{Script: filepath.Join(dir, "tune.py"), Folder: filepath.Join(dir, "k"), Python: program,
		Getenv: os.Getenv, Output: t.Output()}
	folder, err := k.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(folder.Path, kernels.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`maximize: "(((2.0 * 256) * 128) / time)"`,
		`"(KWG % (float((MDIMC * NDIMC)) / MDIMA)) == 0"`} {
		if !strings.Contains(string(manifest), want) {
			t.Errorf("no %s in\n%s", want, manifest)
		}
	}
	if _, err := os.Stat(filepath.Join(folder.Path, "vector.h")); err != nil {
		t.Error(err, folder.Gaps)
	}
}
