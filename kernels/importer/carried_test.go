package importer

import (
	"strings"
	"testing"

	"pawl/kernels"
)

const recordedCall = `{"call":"tune_kernel","kernel_name":"count","source":{"kind":"text","text":"SOURCE"},
"params":[["block_size_x",[32,64]],["STEPS",[1,2]]],"problem_size":[{"text":"64"}],
"arguments":[{"kind":"array","dtype":"float32","shape":[3],"file":"a.npy"},{"kind":"array","dtype":"uint32","shape":[3],"zeros":true},{"kind":"array","dtype":"float32","shape":[3],"zeros":true}],
"constants":{"limit":{"kind":"scalar","dtype":"int32","value":"7"},"table":{"kind":"array","dtype":"float32","shape":[9],"file":"c.npy"}},
"metrics":METRICS,"objective":OBJECTIVE,"first":{"block_size_x":32,"STEPS":1}}`

const countSource = `__constant__ float table[9];
__constant__ int limit;
__global__ void count(float *state, unsigned *counts, float *out) { atomicAdd(&counts[threadIdx.x % limit], 1u); state[0] *= table[0]; out[0] = 1; }`

func describeCall(t *testing.T, source, metrics, objective string) *description {
	t.Helper()
	text := strings.NewReplacer("SOURCE", strings.ReplaceAll(source, "\n", "\\n"), "METRICS", metrics, "OBJECTIVE",
		objective, "\n", "").Replace(recordedCall)
	calls, err := parseCalls([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d, err := calls[0].describe(calls, ".")
	if err != nil {
		t.Fatal(err)
	}
	d.name = "count"
	if err := kernels.Check(kernels.ManifestName, []byte(d.manifest()), d.backend); err != nil {
		t.Errorf("%v\n%s", err, d.manifest())
	}
	return d
}

// What a kernel changes, adds to, and reads from constant memory has its own keys, and the copy
// that stands in for a reference takes the constants.
func TestRolesOfArgumentsAreCarriedOver(t *testing.T) {
	d := describeCall(t, countSource, `{}`, `"time"`)
	manifest := d.manifest()
	for _, line := range []string{
		"- {name: state, type: f32, shape: [3], inout: true, from: data/state.npy}",
		"- {name: counts, type: u32, shape: [3], out: true, init: 0}",
		"- {name: out, type: f32, shape: [3], out: true}",
		"- {name: limit, type: i32, symbol: limit, value: 7}",
		"- {name: table, type: f32, symbol: table, shape: [9], from: data/table.npy}",
	} {
		if !strings.Contains(manifest, line+"\n") {
			t.Errorf("no %s in\n%s", line, manifest)
		}
	}
	if strings.Contains(manifest, "imize") || strings.Contains(manifest, "reference: true") {
		t.Errorf("an objective that nobody named:\n%s", manifest)
	}
	reference := string(d.files[len(d.files)-1].Content)
	for _, part := range []string{"static __device__ int limit;", "static __device__ const float *table;",
		"count(float *state, unsigned *counts, float *out, int pawl_limit, const float *pawl_table) {",
		"limit = pawl_limit;", "table = pawl_table;"} {
		if !strings.Contains(reference, part) {
			t.Errorf("no %q in\n%s", part, reference)
		}
	}
	d = describeCall(t, strings.Replace(countSource, "table[9]", "table[3][3]", 1), `{}`, `null`)
	if gaps := strings.Join(d.gaps,
		"\n"); !strings.Contains(gaps, "the reference must take the constant memory table as a parameter") {
		t.Error(gaps)
	}
}

// Objectives are carried over where their direction and their formula are known.
func TestObjectivesAreCarriedOver(t *testing.T) {
	for _, test := range []struct{ metrics, objective, line, gap string }{
		{`{"GFLOP/s":{"text":"(STEPS / time)","python":"p"}}`, `"GFLOP/s"`, `maximize: "(STEPS / time)" # GFLOP/s`, ""},
		{`{"cost":{"text":"(time * 2)","python":"p"}}`, `"cost"`, `minimize: "(time * 2)" # cost`, ""},
		{`{"mine":{"text":"(time * 2)","python":"p"}}`, `"mine","higher":false`, `minimize: "(time * 2)" # mine`, ""},
		{`{}`, `"energy"`, "minimize: energy", ""},
		{`{"mine":{"text":"(time * 2)","python":"p"}}`, `"mine"`, "",
			"does not say whether more of its objective mine is better"},
		{`{"cost":{"text":"STEPS","python":"p"}}`, `"cost"`, "", "nothing would be measured"},
		{`{"cost":{"gap":"a call","python":"f(p)"}}`, `"cost"`, "",
			"the objective cost (f(p)) was not carried over, and pawl minimizes time: a call"},
		{`{}`, `"watts"`, "", "the objective is watts, which is no metric of the script"},
		{`{"GB/s":{"text":"(1 / time)","python":"1/time"}}`, `"time"`, "", "the metric GB/s (1/time) was not carried over"},
	} {
		d := describeCall(t, countSource, test.metrics, test.objective)
		if d.objective != test.line || !strings.Contains(strings.Join(d.gaps, "\n"), test.gap) {
			t.Errorf("%s of %s: %q, gaps %q", test.objective, test.metrics, d.objective, d.gaps)
		}
		if work := strings.Contains(test.line,
			"STEPS"); work != strings.Contains(d.manifest(), "STEPS: {values: [1, 2], default: 1, reference: true}") ||
			work != strings.Contains(string(d.files[len(d.files)-1].Content), "#ifndef STEPS") {
			t.Errorf("%s: the reference does not see what it should\n%s", test.line, d.manifest())
		}
	}
}

// An instance of a template is the entry itself.
func TestTemplatesAreCarriedOver(t *testing.T) {
	text := strings.NewReplacer("SOURCE", "template <int N> __global__ void count(float *a, unsigned *b, float *c) { }",
		`"kernel_name":"count"`, `"kernel_name":"count<block_size_x>"`,
		"METRICS", "{}", "OBJECTIVE", "null", "\n", "").Replace(recordedCall)
	calls, err := parseCalls([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d, err := calls[0].describe(calls, ".")
	if err != nil {
		t.Fatal(err)
	}
	if d.name = "count"; !strings.Contains(d.manifest(), `entry: "count<block_size_x>"`) ||
		!strings.Contains(strings.Join(d.gaps, "\n"), "a function count that is no template") {
		t.Errorf("%s", d.manifest())
	}
}

// The reference of a script that runs a kernel for its answer may use Kernel Tuner's names for the block's size, which
// nobody tunes there.
func TestAReferenceKnowsTheSizeOfItsBlock(t *testing.T) {
	const source = `"source":{"kind":"text","text":"__global__ void NAME(float *out) { if (threadIdx.x < block_size_x) ` +
		`out[0] = 1; }"},"problem_size":[{"text":"64"}],"arguments":[{"kind":"array","dtype":"float32","shape":[3],"zeros":true}]`
	run := `{"call":"run_kernel","kernel_name":"simple","params":[],` + strings.ReplaceAll(source, "NAME", "simple") + `}`
	tuned := `{"call":"tune_kernel","kernel_name":"fast","params":[["block_size_x",[32,64]]],` +
		strings.ReplaceAll(source, "NAME", "fast") + `,"first":{"block_size_x":32},"answer":[{"run":0}]}`
	calls, err := parseCalls([]byte(run + "\n" + tuned))
	if err != nil {
		t.Fatal(err)
	}
	d, err := calls[1].describe(calls, ".")
	if err != nil {
		t.Fatal(err)
	}
	reference := string(d.files[len(d.files)-1].Content)
	if d.referenceBlock == nil || !strings.Contains(reference, "#define block_size_x "+d.referenceBlock[0]) {
		t.Errorf("block %v\n%s", d.referenceBlock, reference)
	}
}
