package importer

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/space"
)

// python is the interpreter that pawl import finds; without one a test is skipped, or fails.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath(cmp.Or(os.Getenv("PYTHON"), "python3"))
	if err != nil {
		if os.Getenv("PAWL_REQUIRE_PYTHON") != "" {
			t.Fatal(err)
		}
		t.Skip("not run: ", err)
	}
	return path
}

// compares has Python write expressions in pawl's words, and evaluate them itself at all points.
const compares = `
import itertools, json, sys
sys.path.insert(0, sys.argv[1])
from pawl_expressions import expression

values = {"A": [1, 2, 3, 8], "B": [1, 4, 5], "Z": [0, 1], "M": [-3, -1, 2], "S": ["row", "column"], "F": [0.5, 1.0], "L": [False, True]}
limit = 12
conditions = [
    "A * B <= 8", "A % B == 1", "A // B > 0", "A / B > 0.5", "A / B == 0.2", "A < B < 8", "1 < A <= B", "not Z", "Z and A == 1", "Z or A > 2", "A in [1, 8]", "A not in (1, 8)",
    "A ** 2 > B ** 3", "max(A, B) - min(A, B) >= 2", "abs(A - B) == 3", "(A if Z else B) > 2", "int(A / B) == 1", "A % 2", "-A < -2", "S == 'row'", "S != 'row' or Z == 1", "A == 1 and B == 1 or Z == 1",
    "A - B % 3 == 1", "M + A > 0", "True", "A == 1.0", "A * 1.5 > B", "not (A == 1 or B == 1)", "A != B != 4", "8 % ((A * B) / A) == 0", "A % (B / 2) == 0", "A // (B / 2) >= 1",
    lambda p: p["A"] * p["B"] <= limit, lambda p: p["A"] % p["B"] == 0 and p['Z'] == 0,
]
# What could mean something else, or is no arithmetic, is a gap.
gaps = [
    "(A - B) // 2 == 1", "M % 2 == 0", "M // 2 == 0", "A ** B > 2", "F > 0.5", "L", "unknown > 1", "A.bit_length() > 1", "A & 1", "A << 1 > 2", "A @ B", "len(S) == 3", "S < 'row'", "A is B",
    "__import__('os').getcwd()", "[x for x in (1, 2)]", "A > ", "2 ** -1 > 0", "(1 if Z else 1.5) > 1", "S in 'rows'",
    lambda p: sum(p.values()) > 3, lambda p, q=1: p["A"] > q, lambda *p: True, print, 3.5, None, lambda p: p.get("A", 1) > 1, lambda p: p[list(p)[0]] > 1,
]
points = [dict(zip(values, point)) for point in itertools.product(*values.values())]
out = []
for c in conditions:
    made = expression(c, values, "condition")
    out.append({"python": str(made.get("python")), "text": made.get("text", ""), "gap": made.get("gap", ""),
                "results": [bool(c(dict(p)) if callable(c) else eval(c, {}, dict(p))) for p in points]})
print(json.dumps({"points": [[p["A"], p["B"], p["Z"], p["M"], p["S"]] for p in points], "conditions": out,
                  "gaps": [[str(g), expression(g, values, "condition").get("gap", ""), expression(g, values, "condition").get("text", "")] for g in gaps]}))
`

func TestExpressionsMeanTheSame(t *testing.T) {
	script := filepath.Join(t.TempDir(), "compares.py")
	if err := os.WriteFile(script, []byte(compares), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python(t), "-B", script, "stand_in")
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
	}
	var found struct {
		Points     [][]any
		Conditions []struct {
			Python, Text, Gap string
			Results           []bool
		}
		Gaps [][3]string
	}
	if err := json.Unmarshal(output, &found); err != nil {
		t.Fatal(err)
	}
	scope, err := space.NewScope(map[string]space.Kind{
		"A": space.Integer,
		"B": space.Integer,
		"Z": space.Integer,
		"M": space.Integer,
		"S": space.Text,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found.Conditions {
		if c.Gap != "" {
			t.Errorf("%s is a gap: %s", c.Python, c.Gap)
			continue
		}
		e, err := scope.Compile(c.Text, space.Condition)
		if err != nil {
			t.Errorf("%s is written as %s: %v", c.Python, c.Text, err)
			continue
		}
		for i, p := range found.Points {
			env := space.Environment{
				"A": int(p[0].(float64)),
				"B": int(p[1].(float64)),
				"Z": int(p[2].(float64)),
				"M": int(p[3].(float64)),
				"S": p[4],
			}
			if got, err := e.Bool(env); err != nil || got != c.Results[i] {
				t.Errorf("%s, written as %s, is %v at %v, and %v for Python (%v)", c.Python, c.Text, got, p, c.Results[i], err)
				break
			}
		}
	}
	if len(found.Conditions) < 30 || len(found.Gaps) < 25 {
		t.Errorf("%d conditions, %d gaps", len(found.Conditions), len(found.Gaps))
	}
	for _, gap := range found.Gaps {
		if gap[1] == "" {
			t.Errorf("%s is written as %s, and should be a gap", gap[0], gap[2])
		}
	}
}

func TestFormals(t *testing.T) {
	source := `/* void k(int no) { */
template <int N> __device__ float helper(float x) { return x; }
__global__ void __launch_bounds__(A * B, 2) k(const float2 *__restrict__ points, float * const out, // the result
	pair<int, float> p,
#if WIDE
	unsigned char table[], int n) { table[n] += 1; }
#endif
void unnamed(int, float *) { }`
	read := func(entry string) []formal {
		return (&description{entry: entry, flags: []string{"-DWIDE=1"}}).formals(source)
	}
	got := read("k")
	want := []formal{
		{"points", true, true, false},
		{"out", true, false, false},
		{"p", false, false, false},
		{"table", true, false, true},
		{"n", false, false, false},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	for _, entry := range []string{"helper2", "k2", "no", "unnamed"} {
		if got := read(entry); got != nil {
			t.Errorf("%s: %v", entry, got)
		}
	}
}

func TestReferencesTakeTheName(t *testing.T) {
	got := swapNames("void fast(); void plain(); void fast_2(); int x = fast(plain);", "fast", "plain")
	if want := "void fast_tuned(); void fast(); void fast_2(); int x = fast_tuned(fast);"; got != want {
		t.Error(got)
	}
}

func TestFormulasOfT1(t *testing.T) {
	p := &problem{Config: map[string]any{"N": json.Number("64"), "name": "x"}}
	d := &description{}
	for name, values := range map[string][]any{"A": {json.Number("1"), json.Number("2")}, "M": {json.Number("0")}} {
		if err := d.addParameter(name, values, nil); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"A*N // 2": "A * 64 / 2", "A<=2 and not (A==1)": "A <= 2 and not ( A == 1 )", "A - 1": "A - 1",
		"max(A, 2)": "max ( A , 2 )", "N % ((A * N) / A) == 0": "64 % ( ( A * 64 ) / float(A) ) == 0",
		"N / (A + 1)": "64 / float( A + 1 )", "(N + A - 1) // A": "cdiv ( 64 , A )",
		"(N+M + A*2 - 1) // (A * 2)": "cdiv ( 64 + M , A * 2 )",
	} {
		if got, err := p.formula(d, text); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"A / max(A, 2)", "A ** 2", "(A - 3) % 2", "(N + A - 1) // N",
		"(N + A - 1) // A * 2", "(A-3) // 2", "B", "name", "A if A else 1",
		"A; 1", "exec(1)", "A[0]"} {
		if got, err := p.formula(d, text); err == nil {
			t.Errorf("%s is written as %s", text, got)
		}
	}
}

// What a kernel reads and writes begins with what the file fills it with.
func TestArgumentsOfT1ThatAreReadAndWritten(t *testing.T) {
	p, d := &problem{}, &description{}
	for _, fill := range []string{"Random", "Constant"} {
		p.Kernel.Arguments = append(p.Kernel.Arguments, t1Argument{Name: strings.ToLower(fill), Type: "float",
			Memory: "Vector", Access: "ReadWrite", Fill: fill, Value: json.Number("2"), Size: json.Number("8"), Output: true})
	}
	p.Kernel.Arguments = append(p.Kernel.Arguments, t1Argument{Name: "i", Type: "int32", Memory: "Vector",
		Access: "readwrite", Fill: "Random", Size: json.Number("8")})
	p.arguments(d)
	for i, want := range []string{"inout: true, fill: uniform, range: [0, 2]", "inout: true, fill: 2",
		"inout: true, fill: uniform"} {
		if got := d.args[i].yaml(); !strings.HasSuffix(got, want) || len(d.gaps) > 0 {
			t.Errorf("%s, gaps %q", got, d.gaps)
		}
	}
}

func FuzzT1(f *testing.F) {
	f.Add([]byte(`{"BenchmarkConfig":{"N":4},"ConfigurationSpace":{"TuningParameters":[{"Name":"A","Values":"[1, 2]"}],"Conditions":[{"Expression":"A % 2 == 0"}]},
"KernelSpecification":{"Language":"CUDA","KernelName":"k","KernelFile":"k.cu","GlobalSize":{"X":"N"},"LocalSize":{"X":"A"},"Arguments":[{"Name":"x","Type":"float","MemoryType":"Vector","Size":"N*2"}]}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		p, err := parseT1(content)
		if err != nil {
			return
		}
		d, err := p.describe("__global__ void k(float *x) {}")
		if err != nil {
			return
		}
		d.name = "k"
		check(t, d)
	})
}

func FuzzCalls(f *testing.F) {
	f.Add([]byte(`{"call":"tune_kernel","kernel_name":"k","source":{"kind":"text","text":"__global__ void k(float *x) {}"},"params":[["A",[1,2.5,"x",true]]],"problem_size":[{"text":"64"}],
"arguments":[{"kind":"array","dtype":"float32","shape":[3],"zeros":true}],"answer":[{"kind":"array","dtype":"float32","shape":[3],"run":0}],"restrictions":[{"text":"A == \"x\"","python":"A"}],"first":{"A":1}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		calls, err := parseCalls(content)
		if err != nil {
			return
		}
		for _, c := range calls {
			if c.Source.Kind != "text" {
				continue
			}
			if d, err := c.describe(calls, "."); err == nil {
				d.name = "k"
				check(t, d)
			}
		}
	})
}

// check makes sure that what is written is a manifest or refused with a sentence, and that every gap
// has its comment.
func check(t *testing.T, d *description) {
	t.Helper()
	text := d.manifest()
	for _, gap := range d.gaps {
		if !strings.Contains(text, "# gap: "+comment(gap)) {
			t.Errorf("no comment for %q", gap)
		}
	}
	_ = kernels.Check(kernels.ManifestName, []byte(text), d.backend)
}
