package host_test

import (
	"errors"
	"strings"
	"testing"

	"pawl/objective/check"
	"pawl/objective/host"
)

// Each output is judged by itself, and each of its elements: what a kernel without work would be right about is no
// evidence, whatever the rest is.
func TestEachOutputIsEvidenceByItself(t *testing.T) {
	const head = `
name: k
entry: k
source: {host: k.c}
reference: {host: k.c}
params: {P: {values: [1, 2], default: 1}}
workloads: {small: {N: 2000}}
fuzz: {N: [500, 2000]}
args:
  - {name: a, type: f32, shape: [N]}
  - {name: b, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: z, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
tolerance: {atol: 1e-3, rtol: 1e-4}
`
	for name, test := range map[string]struct{ z, blind, note string }{
		"right":         {"a[i] * b[i]", "", ""},
		"exact zeros":   {"i % 4 ? 0 : a[i] * b[i]", "", ""},
		"tiny":          {"1e-6f * a[i]", "a kernel that writes zeros would pass", ""},
		"second input":  {"b[i] + 1e-5f * a[i]", "a kernel that copies b would pass", ""},
		"sum":           {"a[i] + b[i] + 1e-5f * a[i] * b[i]", "a kernel that adds its inputs would pass", ""},
		"hardly varies": {"3 + 1e-5f * a[i]", "would pass", ""},
		"late elements": {"a[i] / (1 + i)", "% of z a kernel that writes zeros or the like would pass", ""},
		"last elements": {"i < N * 3 / 4 ? a[i] : 1e-6f * a[i]", "", "25 % of z are no evidence: one that writes zeros"},
	} {
		b := open(t, map[string]string{"kernel.yaml": head, "k.c": `#include <stdint.h>
void k(const float *a, const float *b, float *y, float *z, int32_t N) {
	for (int i = 0; i < N; i++) y[i] = 2 * a[i] - b[i], z[i] = ` + test.z + `;
}`}, host.Options{})
		p := b.prepare(t, "P=1")
		failure, err := b.Verify(t.Context(), p)
		blind, ok := errors.AsType[*check.BlindError](err)
		switch note := b.Tester.Note(p.Point); {
		case failure != nil || err != nil && !ok || ok != (test.blind != ""):
			t.Errorf("%s: %v, %v", name, failure, err)
		case ok && !strings.Contains(blind.Finding(), test.blind):
			t.Errorf("%s: %s", name, blind.Finding())
		case test.note == "" && strings.Contains(note, "no evidence") || !strings.Contains(note, test.note):
			t.Errorf("%s: noted %q", name, note)
		}
	}
}
