package cuda

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/kernels/inputs"
	"pawl/objective"
	"pawl/objective/worker"
)

// The reference of attention is the oracle of everything else: it is compared
// with the definition, in double precision and in another language.
func TestGPUAttentionReference(t *testing.T) {
	requireGPU(t)
	k, err := kernels.Load("attention", kernels.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	for _, workload := range []string{"training_512", "wide_2048"} { // D is 64 and 128
		t.Run(workload, func(t *testing.T) { compareShapes(t, k, workload) })
	}
}

// compareShapes compares shapes that are a tile, less and more, with and without
// a mask.
func compareShapes(t *testing.T, k *kernels.Kernel, workload string) {
	r := newRealRig(t, k, workload, objective.Options{})
	binary, err := r.backend.Reference(t.Context(), k.ReferencePoint(k.Default()))
	if err != nil {
		t.Fatal(err)
	}
	client := r.client()
	for _, keys := range []int64{1, 7, 33, 130} {
		for causal := range int64(2) {
			dims := kernels.Dims{"B": 2, "H": 3, "S": keys, "D": r.workload.Dims["D"], "CAUSAL": causal}
			worst := compareAttention(t, client, k, binary, dims)
			t.Logf("%s: worst error %.3f times half a unit in the last place", dims, worst)
			if worst > 1+1e-6 {
				t.Errorf("%s: more than the rounding of the output", dims)
			}
		}
	}
}

// compareAttention runs the reference and returns its largest error, as a
// multiple of what the rounding to fp16 alone may do.
func compareAttention(t *testing.T, client *worker.Client, k *kernels.Kernel, binary objective.Binary,
	dims kernels.Dims) float64 {
	t.Helper()
	bindings, err := k.Bind(dims)
	if err != nil {
		t.Fatal(err)
	}
	call, err := k.Launch.Reference.At(dims.Environment())
	if err != nil {
		t.Fatal(err)
	}
	load := worker.Load{
		Module: binary.Path, Support: binary.Support, Calls: []kernels.Call{call},
		Arguments: bindings, Seed: 42, Layout: worker.Guarded,
	}
	if err := client.Load(t.Context(), load); err != nil {
		t.Fatal(err)
	}
	result, err := client.Run(t.Context(), worker.Run{})
	if err != nil || result.Damage != nil || len(result.Outputs) != 1 {
		t.Fatalf("%+v, %v", result.Damage, err)
	}
	got := decodeHalf(t, result.Outputs[0])
	want := attention(t, bindings, dims, load.Seed)
	if len(got) != len(want) {
		t.Fatalf("%d elements, want %d", len(got), len(want))
	}
	worst := 0.0
	for i := range want {
		_, exponent := math.Frexp(want[i])
		half := math.Ldexp(1, max(exponent-12, -25)) // half a step of fp16 there
		worst = math.Max(worst, math.Abs(got[i]-want[i])/half)
		if math.IsNaN(got[i]) {
			t.Fatalf("element %d of %s is not a number", i, dims)
		}
	}
	return worst
}

func decodeHalf(t *testing.T, content []byte) []float64 {
	t.Helper()
	element, err := element.Named("f16")
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, len(content)/element.Size)
	for i := range values {
		values[i] = element.Load(content[i*element.Size:])
	}
	return values
}

// attention is the definition: softmax(scale * q k') v, a query at a time.
func attention(t *testing.T, bindings []arguments.Binding, dims kernels.Dims, seed uint64) []float64 {
	t.Helper()
	var values [3][]float64 // q, k, v
	for i := range values {
		content := make([]byte, 2*bindings[i].Count)
		if err := new(inputs.Source).Fill(content, bindings[i], seed); err != nil {
			t.Fatal(err)
		}
		values[i] = decodeHalf(t, content)
	}
	q, k, v := values[0], values[1], values[2]
	rows, width := int(dims["S"]), int(dims["D"])
	scale := float64(float32(1 / math.Sqrt(float64(width)))) // it is passed as a float
	result := make([]float64, len(q))
	for head := range int(dims["B"] * dims["H"]) {
		base := head * rows * width
		for row := range rows {
			visible := rows
			if dims["CAUSAL"] == 1 {
				visible = row + 1
			}
			at := base + row*width
			mix(result[at:at+width], q[at:at+width], k[base:base+visible*width], v[base:base+visible*width], scale)
		}
	}
	return result
}

// mix writes one query's result.
func mix(result, query, keys, values []float64, scale float64) {
	width := len(query)
	scores := make([]float64, len(keys)/width)
	largest := math.Inf(-1)
	for n := range scores {
		for d, x := range query {
			scores[n] += x * keys[n*width+d]
		}
		scores[n] *= scale
		largest = math.Max(largest, scores[n])
	}
	sum := 0.0
	for n, score := range scores {
		weight := math.Exp(score - largest)
		sum += weight
		for d := range result {
			result[d] += weight * values[n*width+d]
		}
	}
	for d := range result {
		result[d] /= sum
	}
}

// compiledVariable is the folder of what was compiled for the role point.
const compiledVariable = "PAWL_TEST_COMPILED"

// measurePoint measures the default point of attention and prints its time.
func measurePoint() error {
	ctx := context.Background()
	k, err := kernels.Load("attention", kernels.CUDA)
	if err != nil {
		return err
	}
	backend, err := realBackend(ctx, k, k.Workloads[0], os.Getenv(compiledVariable))
	if err != nil {
		return err
	}
	e := objective.NewEvaluator(k, k.Workloads[0], backend, objective.Options{})
	defer e.Close()
	p, err := e.Prepare(ctx, k.Default())
	if err != nil {
		return err
	}
	outcome, err := e.Sample(ctx, p, 50)
	if err != nil {
		return err
	}
	if outcome.Failure != nil {
		return fmt.Errorf("%s", outcome.Failure)
	}
	return json.NewEncoder(os.Stdout).Encode(outcome.Milliseconds())
}
