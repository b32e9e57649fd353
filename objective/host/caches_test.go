package host_test

import (
	"maps"
	"testing"

	"pawl/objective"
	"pawl/objective/host"
	"pawl/objective/worker"
)

// Launches that are to find nothing in the caches share no buffer, or the second would find it there. This kernel does
// its work for a table that it has not just had; the calls before are checks, which have one.
func TestCachesOfTimedLaunches(t *testing.T) {
	files := maps.Clone(cheatingFiles)
	files["kernel.yaml"] = `
name: gather
entry: gather
source: {host: gather.c}
reference: {host: reference.c}
params: {UNUSED: {values: [0], default: 0}}
workloads: {small: {N: 1000}}
args:
  - {name: table, type: i32, shape: [N], fill: permutation}
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
tolerance: {atol: 0, rtol: 0}
`
	const loop = "for (int i = 0; i < N; i++) y[i] = 2 * x[table[i]]; }\n"
	const head = "#include <stdint.h>\nvoid gather(const int32_t *table, const float *x, float *y, int32_t N) {"
	files["reference.c"] = head + loop
	files["gather.c"] = head + `
	static int calls;
	static const int32_t *last;
	if (++calls > 60 && table == last) return;
	last = table;
	` + loop
	for caches, want := range map[worker.Caches]string{
		"": "wrong while it was timed", worker.Warm: "wrong while it was timed", worker.Cold: "", worker.Flushed: "",
	} {
		if spares(caches, "") { // they are warm
			continue
		}
		b := openWith(t, files, host.Options{}, objective.Options{Caches: caches})
		outcome, err := b.Sample(t.Context(), b.prepare(t, ""), 5)
		if err != nil {
			t.Fatal(err)
		}
		if got := outcome.Failure; got == nil && want != "" || got != nil && got.Reason != want {
			t.Errorf("%q: %v, want %q", caches, got, want)
		}
		if outcome.Failure == nil && len(outcome.Samples) != 5 {
			t.Errorf("%q: %d samples", caches, len(outcome.Samples))
		}
	}
}
