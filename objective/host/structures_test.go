package host_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/internal/thorough"
	"pawl/objective"
	"pawl/objective/host"
)

var structures = map[string]string{"kernel.yaml": `name: structures
entry: structures
source: [structures.c, helper.cpp]
reference: reference.c
include: [include]
params:
  MODE: {values: [good, wrong, unwritten, padding], default: good}
workloads:
  small: {N: 1000}
args:
  - name: bodies
    type: struct body
    shape: [N]
    inout: true
    fields:
      - {name: kind, type: u8, fill: uniform, range: [0, 2]}
      - {name: mass, type: f64, fill: uniform, range: [1, 2]}
      - {name: at, type: f32x3, fill: uniform}
  - name: setup
    type: struct setup
    fields: [{name: scale, type: f32, value: 2}, {name: count, type: i64, value: N}]
  - name: results
    type: struct result
    shape: [N]
    out: true
    fields: [{name: kind, type: i32}, {name: weight, type: f64, tolerance: {atol: 1e-12, rtol: 0}}]
`, "include/structures.h": `#include <stdint.h>
struct body { uint8_t kind; double mass; float at[3]; };
struct setup { float scale; int64_t count; };
struct result { int32_t kind; double weight; };
`, "structures.c": `#include "structures.h"
enum { good, wrong, unwritten, padding };
double weight(double mass, float scale);
void structures(struct body *bodies, struct setup setup, struct result *results) {
	for (int64_t i = 0; i < setup.count; i++) {
		for (int d = 0; d < 3; d++) bodies[i].at[d] *= setup.scale;
		if (MODE == padding) ((uint8_t *)&bodies[i])[1] = 7;
		if (MODE != unwritten || i != 17) results[i].kind = bodies[i].kind;
		results[i].weight = weight(bodies[i].mass, setup.scale) + (MODE == wrong && i == 5 ? 1e-9 : 0);
	}
}
`, "helper.cpp": `#include <structures.h>
#include <vector>
extern "C" double weight(double mass, float scale) { return std::vector<double>{mass, mass * scale}.at(1); }
`, "reference.c": `#include "structures.h"
void structures(struct body *bodies, struct setup setup, struct result *results) {
	for (int64_t i = 0; i < setup.count; i++) {
		for (int d = 0; d < 3; d++) bodies[i].at[d] *= setup.scale;
		results[i].kind = bodies[i].kind;
		results[i].weight = bodies[i].mass * setup.scale;
	}
}
`}

func withCPlusPlus(t *testing.T) host.Options {
	t.Helper()
	toolchain, err := host.FindCPlusPlus(t.Context(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return host.Options{CPlusPlus: toolchain}
}

// Structures of different types are filled, passed by value and compared field by field, in a
// kernel of two units in two languages that include from a folder.
func TestStructuresAndUnits(t *testing.T) {
	b := open(t, structures, withCPlusPlus(t))
	for _, point := range thorough.Some([]string{"MODE=padding", "MODE=good"}, 1) {
		if outcome := b.measure(t, point, 0); outcome.Failure != nil {
			t.Errorf("%s: %v", point, outcome.Failure)
		}
	}
	for point, want := range map[string]string{
		"MODE=wrong":     "results.weight[5] is ",
		"MODE=unwritten": "results.kind[17] is ",
	} {
		if outcome := b.measure(t, point, 0); outcome.Failure == nil || outcome.Failure.Stage != objective.Fuzz ||
			!strings.Contains(outcome.Failure.Detail, want) {
			t.Errorf("%s: %v", point, outcome.Failure)
		}
	}
	// The key of the cache is of all units and of what they include.
	for _, name := range thorough.Some([]string{"include/structures.h", "helper.cpp"}, 1) {
		before := b.prepare(t, "MODE=good")
		path := filepath.Join(b.kernel.Dir, name)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(content, "enum { another_"+filepath.Base(name)[:4]+" = 1 };\n"...),
			0o644); err != nil {
			t.Fatal(err)
		}
		b = openFolder(t, b.kernel.Dir, withCPlusPlus(t), objective.Options{})
		after, err := b.Prepare(t.Context(), before.Point)
		if err != nil || after.Failure != nil || after.Spent.CacheHit {
			t.Errorf("%s: from the cache: %v, %v, %v", name, after.Spent.CacheHit, after.Failure, err)
		}
	}
}

// A structure that is not the manifest's does not compile, and the message has the field; so does a
// function that no unit has.
func TestStructuresAndUnitsThatDoNotFit(t *testing.T) {
	fits := map[string]string{
		"int32_t kind; double weight => int64_t kind; double weight": "field results.kind at byte 0, with 4 bytes",
		"float at[3] => float at[4]":                                 "field bodies.at at byte 16, with 12 bytes",
		"double weight( => double wait(":                             "undefined",
	}
	for _, change := range thorough.Some(slices.Sorted(maps.Keys(fits)), 2) {
		want := fits[change]
		files := maps.Clone(structures)
		old, new, _ := strings.Cut(change, " => ")
		for _, name := range []string{"include/structures.h", "helper.cpp"} {
			files[name] = strings.Replace(files[name], old, new, 1)
		}
		b := open(t, files, withCPlusPlus(t))
		p, err := b.Prepare(t.Context(), b.at(t, "MODE=good"))
		if err == nil && p.Failure != nil {
			err = errors.New(p.Failure.Detail)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
}
