package dispatch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/space"
)

// pythonAsks asks the same table as the program in C, and launches a kernel that stands in for Triton's.
const pythonAsks = `
import json, os, sys
import k_dispatch as k

DEVICE = 'GPU "9000" \\ ??/ */ \u00e9'
small, large = k.VARIANTS[0], k.VARIANTS[1]
assert k.configs(DEVICE, D=64, N=100) is small and k.configs(DEVICE, N=10000, D=64) is large
assert small == {"BLOCK": 8, "FAST": False, "MODE": 'a ?? "b"', "NUM_WARPS": -9223372036854775808}, small
assert k.configs("other", D=128, N=0) is k.VARIANTS[2]
# Nobody tuned these: the default, and the nearest only where it is asked for.
for device, d, n, near in [(DEVICE, 64, 1, small), (DEVICE, 64, 900, small), (DEVICE, 64, 1100, large),
                           (DEVICE, 128, 100, k.DEFAULT), ("nobody", 64, 100, k.DEFAULT), (None, 64, 100, k.DEFAULT)]:
    assert k.configs(device, D=d, N=n) is k.DEFAULT, (device, d, n)
    for _ in range(2):
        assert k.nearest(device, D=d, N=n) is near, (device, d, n)
for wrong in [{}, {"D": 64}, {"D": 64, "M": 1}, {"D": 64, "N": 1, "M": 1}]:
    try:
        k.configs(DEVICE, **wrong)
        raise SystemExit(f"{wrong} was accepted")
    except TypeError as problem:
        assert "the sizes are D, N" in str(problem), problem

class Jitted:
    """What a function of triton.jit is to its decorators."""
    arg_names = ["x", "n", "depth", "BLOCK", "FAST", "MODE"]
    src = "source"
    def run(self, *args, **kwargs):
        return args, kwargs

class Config:
    pre_hook = staticmethod(lambda arguments: hooked.append(arguments["BLOCK"]))

hooked = []
kernel = k.autotune(configs=[Config()], key=["n"], reset_to_zero=["x"], device=DEVICE,
                    sizes={"D": lambda arguments: arguments["depth"]})(Jitted())
args, kwargs = kernel[(7,)]("x", 10000, depth=64)
assert args == ("x", 10000)
assert kwargs == {"grid": (7,), "warmup": False, "depth": 64, "BLOCK": 16, "FAST": True, "MODE": "row", "num_warps": 9}, kwargs
assert kernel[(7,)]("x", n=5, depth=64)[1]["BLOCK"] == k.DEFAULT["BLOCK"] and kernel.src == "source"
assert hooked == [16, 4], hooked
near = k.autotune(device=DEVICE, sizes={"D": "depth"}, nearest=True)(Jitted())
assert near[(7,)]("x", 5, 64)[1]["BLOCK"] == 8
try:
    k.autotune(key=["n"])(Jitted())
    raise SystemExit("a size that is no argument was accepted")
except TypeError as problem:
    assert "no argument is the size D" in str(problem), problem
class Other(Jitted):
    arg_names = ["x", "n", "D", "BLOCK"]
try:
    k.autotune()(Other())
    raise SystemExit("a parameter that is no argument was accepted")
except TypeError as problem:
    assert "no argument FAST, MODE" in str(problem), problem
assert "torch" not in sys.modules and "triton" not in sys.modules
`

// pythonTable is the table of the header's test with a boolean, an option of the compiler, and a default.
func pythonTable(t testing.TB) *Table {
	made := table(t, "k_dispatch")
	for i, text := range []string{`BLOCK=8,FAST=false,MODE="a ?? \"b\"",NUM_WARPS=-9223372036854775808`,
		"BLOCK=16,FAST=true,MODE=row,NUM_WARPS=9", "BLOCK=16,FAST=true,MODE=row,NUM_WARPS=8"} {
		made.Variants[i].Point = point(t, text)
	}
	made.Default = point(t, "BLOCK=4,FAST=true,MODE=row,NUM_WARPS=4")
	made.Arguments = map[string]string{"N": "n"}
	return made
}

// python runs a program beside the module.
func python(t *testing.T, folder, program string, environment ...string) string {
	t.Helper()
	interpreter := cmp.Or(os.Getenv("PYTHON"), "python3")
	if _, err := exec.LookPath(interpreter); err != nil {
		if os.Getenv("PAWL_REQUIRE_PYTHON") != "" {
			t.Fatal(err)
		}
		t.Skip("no Python")
	}
	cmd := exec.CommandContext(t.Context(), interpreter, "-B", "-W", "error", "-c", program)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), environment...)
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return string(output)
}

func TestPythonSelects(t *testing.T) {
	folder := t.TempDir()
	if _, err := pythonTable(t).Write(folder, true); err != nil {
		t.Fatal(err)
	}
	python(t, folder, pythonAsks)
}

// Sizes that nobody tuned are counted in few lines, by several processes too, and a file that cannot be written is
// a warning.
func TestPythonRecordsWhatWasMissed(t *testing.T) {
	folder := t.TempDir()
	if _, err := pythonTable(t).Write(folder, true); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		python(t, folder, `
import k_dispatch as k
for _ in range(1000):
    k.configs("nobody", D=64, N=7)
k.configs("nobody", D=64, N=9)
k.configs("other", D=128, N=0)
`, "PAWL_MISSED=missed.jsonl")
	}
	content, err := os.ReadFile(filepath.Join(folder, "missed.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	counts := map[int64]int{}
	for _, line := range lines {
		var missed struct {
			Kernel, Device string
			Sizes          kernels.Dims
			Count          int
		}
		err := json.Unmarshal([]byte(line), &missed)
		if err != nil || missed.Kernel != "k*/" || missed.Device != "nobody" {
			t.Errorf("%v: %s", err, line)
		}
		counts[missed.Sizes["N"]] += missed.Count
	}
	if counts[7] != 2000 || counts[9] != 2 || len(counts) != 2 || len(lines) > 30 {
		t.Errorf("%d lines: %v", len(lines), counts)
	}
	python(t, folder, `
import warnings
import k_dispatch as k
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for n in range(3):
        assert k.configs("nobody", D=64, N=n) is k.DEFAULT
assert len(caught) == 1 and "no more sizes are recorded" in str(caught[0].message), caught
`, "PAWL_MISSED="+filepath.Join(folder, "nowhere", "missed.jsonl"))
}

// Without a default that is right there is nothing to fall back on, and no module.
func TestPythonNeedsADefault(t *testing.T) {
	made := pythonTable(t)
	made.Default = space.Point{}
	if err := made.Python(new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "another default") {
		t.Error(err)
	}
}

// A kernel on tiles is launched from Python alone: nothing of C is written for it.
func TestATableOfTilesIsForPythonAlone(t *testing.T) {
	made := table(t, "k_dispatch")
	made.Tiles, made.Default = true, made.Variants[0].Point
	for i := range made.Variants {
		made.Variants[i].Compiler = nil
	}
	if err := made.check(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	paths, err := made.Write(folder, false)
	if want := []string{filepath.Join(folder, "k_dispatch.json"), filepath.Join(folder, "k_dispatch.py")}; err != nil ||
		!slices.Equal(paths, want) {
		t.Errorf("%v, %v", paths, err)
	}
}

// Python finds the same values right as the constraints do: the default where it can, else the first that is.
func TestPythonFallsBackToWhatIsRight(t *testing.T) {
	names := map[string]space.Kind{"D": space.Integer, "N": space.Integer, "BLOCK": space.Integer, "FAST": space.Boolean,
		"MODE": space.Text, "NUM_WARPS": space.Integer}
	scope, err := space.NewScope(names, map[string]string{"tiles": "cdiv(N, BLOCK)", "odd": "tiles % 2 == 1"})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	program := "import importlib\n"
	var want []string
	for i, formula := range []string{"BLOCK >= N", "odd || !FAST", "tiles > 1 && NUM_WARPS != 4", "pow2(N) == FAST",
		`MODE in ["row", "column"] ? N % 3 == 0 : D == 64`, "-N / 7 * 7 == -N || -N % 4 == -3", "cdiv(-N, 4) > -3",
		"100 / (N - 5) > 8", "min(N, D) + abs(N - 9) <= max(BLOCK, 12) and not (MODE not in ['row'])", "true"} {
		made := pythonTable(t)
		condition, err := scope.Compile(formula, space.Condition)
		if err != nil {
			t.Fatal(err)
		}
		made.Prefix, made.conditions = fmt.Sprint("k", i), []*space.Expression{condition}
		if _, err := made.Write(folder, true); err != nil {
			t.Fatal(err)
		}
		for n := range 20 {
			program += fmt.Sprintf("k = importlib.import_module('k%d')\ntry:\n    v = k.nearest('nobody', D=128, N=%d)\n"+
				"    print('default' if v is k.DEFAULT else k.VARIANTS.index(v))\nexcept ValueError:\n    print('none')\n", i, n)
			answer := "none"
			v := made.Variants
			for at, p := range []space.Point{v[2].Point, v[1].Point, v[0].Point, made.Default} {
				env := space.Environment{"D": 128, "N": n}
				for _, a := range p.Assignments() {
					env[a.Name] = map[space.Kind]any{space.Integer: int(a.Value.Integer()), space.Boolean: a.Value.Integer() == 1,
						space.Text: a.Value.Define()}[a.Value.Kind()]
				}
				if right, err := condition.Bool(env); err == nil && right {
					answer = []string{"2", "1", "0", "default"}[at]
				}
			}
			want = append(want, answer)
		}
	}
	if got := strings.Fields(python(t, folder, program)); !slices.Equal(got, want) {
		t.Errorf("Python: %v\nwant:   %v", got, want)
	}
	real, err := scope.Compile("sqrt(N) > 2", space.Condition)
	if err != nil {
		t.Fatal(err)
	}
	made := pythonTable(t)
	made.conditions = []*space.Expression{real}
	err = made.Python(new(bytes.Buffer))
	if err == nil || !strings.Contains(err.Error(), `v["sqrt"] cannot be written`) {
		t.Error(err)
	}
}
