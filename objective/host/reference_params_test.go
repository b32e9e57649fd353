package host_test

import (
	"strings"
	"testing"

	"pawl/internal/thorough"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/host"
)

// doubling doubles its input STEPS times in a launch; LAZY leaves the last time out.
var doubling = map[string]string{"kernel.yaml": `name: doubling
entry: twice
source: {host: doubling.c}
reference: {host: reference.c}
params:
  STEPS: {values: [1, 2, 3], default: 1, reference: true}
  LAZY: {values: [0, 1], default: 0}
minimize: time / STEPS
workloads: {small: {N: 1000}}
args:
  - {name: x, type: f32, shape: [N], fill: uniform}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
fuzz: {N: [1, 7, 100]}
tolerance: {atol: 1e-6, rtol: 0}
work: {flops: "STEPS * N"}
`, "doubling.c": `#include <stdint.h>
void twice(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++) {
		y[i] = x[i];
		for (int s = LAZY; s < STEPS; s++) y[i] *= 2;
	}
}
`, "reference.c": `#include <stdint.h>
#ifdef LAZY
#error the result does not depend on it
#endif
void twice(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++) y[i] = (float)(x[i] * (double)(1 << STEPS));
}
`}

// Work per launch may depend on a parameter: each point is compared with what its own value asks
// for, in checks and in what timed launches leave behind, and compared by its work.
func TestReferenceSeesTheParametersThatMeanSomething(t *testing.T) {
	b := open(t, doubling, host.Options{})
	order, want := []string{"STEPS=1", "STEPS=3"}, 4000.0
	if thorough.All() {
		order, want = append(order, "STEPS=2", "STEPS=3"), 9000
	}
	flops := 0.0
	for _, steps := range order {
		outcome := b.measure(t, steps, 0)
		if outcome.Failure != nil {
			t.Fatalf("%s: %v", steps, outcome.Failure)
		}
		flops += outcome.Measured[objective.WorkFlops]
		if failure, err := b.Verify(t.Context(), b.prepare(t, steps)); failure != nil || err != nil {
			t.Fatalf("%s: %v, %v", steps, failure, err)
		}
		failure := b.measure(t, steps+",LAZY=1", 0).Failure
		if failure == nil || failure.Stage != objective.Fuzz || failure.Reason != string(check.WrongResult) {
			t.Errorf("%s,LAZY=1: %v", steps, failure)
		}
	}
	if flops != want { // 1000 elements, 1 + 3 steps, and 2 + 3
		t.Errorf("%g flops in all", flops)
	}
	// The same machine code, but right for one of them only.
	one, two := b.prepare(t, "STEPS=1"), b.prepare(t, "STEPS=2,LAZY=1")
	if one.Binary.Digest == two.Binary.Digest {
		t.Error("points that should compute different things count as one")
	}
}

// A reference that fails says for which values.
func TestReferenceThatRefusesAValue(t *testing.T) {
	files := map[string]string{}
	for name, content := range doubling {
		files[name] = strings.Replace(content, "#ifdef LAZY", "#if STEPS > 2", 1)
	}
	b := open(t, files, host.Options{})
	if outcome := b.measure(t, "STEPS=2", 0); outcome.Failure != nil {
		t.Fatal(outcome.Failure)
	}
	_, err := b.Prepare(t.Context(), b.at(t, "STEPS=3"))
	if err == nil || !strings.Contains(err.Error(), "reference of doubling") {
		t.Error(err)
	}
}
