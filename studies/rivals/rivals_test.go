package rivals

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pawl/internal/kerneltest"
	"pawl/kernels"
	"pawl/kernels/element"
	"pawl/objective"
	"pawl/objective/devices"
)

// TestMain lets the test binary be its own worker, and a rival.
func TestMain(m *testing.M) {
	devices.Serve()
	if len(os.Args) == 2 && os.Args[1] == "structures" {
		weigh()
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "rival" {
		compete(os.Args[2])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// compete is a rival: it doubles its input, or misbehaves in a way.
func compete(how string) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for asked := 0; in.Scan(); asked++ {
		var q request
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			panic(err)
		}
		switch how {
		case "dies":
			fmt.Fprintln(os.Stderr, "Traceback\nImportError: no module named library")
			os.Exit(3)
		case "hangs":
			time.Sleep(time.Hour)
		case "talks":
			fmt.Println("hello")
			continue
		case "lacks":
			fmt.Println(`{"missing": "there is no such library here"}`)
			continue
		case "lies":
			fmt.Println(`{"samples_ms": [0.1, -1, 0.1]}`)
			continue
		case "short":
			fmt.Println(`{"samples_ms": [0.1]}`)
			continue
		case "limit":
			fmt.Println(`{"samples_ms": [0.001, 0.001, 0.001], "limit": true}`)
			continue
		}
		if q.Outputs && how != "silent" {
			factor := 2.0
			if how == "wrong" || how == "fades" && asked > 1 {
				factor = 3
			}
			double(q, factor)
		}
		time := 50.0 // far above what a sample of the kernel takes on a machine that is busy
		if how == "fast" {
			time = 1e-7
		}
		fmt.Printf("{\"samples_ms\": [%g, %g, %g]}\n", time, time, time)
	}
}

// double computes the kernel's output from the files of a request.
func double(q request, factor float64) {
	f32, err := element.Named("f32")
	if err != nil {
		panic(err)
	}
	var out string
	var content []byte
	for _, a := range q.Arguments {
		path := filepath.Join(q.Folder, a.File)
		switch {
		case a.Out:
			out = path
		case a.File != "":
			if content, err = os.ReadFile(path); err != nil || len(content) != int(4*a.Shape[0]) || q.Sizes["N"] != a.Shape[0] {
				panic(fmt.Sprint(err, len(content), a, q.Sizes))
			}
		}
	}
	for at := 0; at < len(content); at += 4 {
		f32.StoreAll(content[at:at+4], []float64{factor * f32.Load(content[at:])})
	}
	if err := os.WriteFile(out, content, 0o644); err != nil {
		panic(err)
	}
}

// run measures a kernel against rivals of these kinds.
func run(t *testing.T, patience time.Duration, kinds ...string) *Result {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	scale := kerneltest.Scale{
		Params:    []string{"WASTE: {values: [1, 0], default: 1}"},
		Workloads: []string{"small: {N: 4000}"},
		More:      "rivals:\n",
	}
	for _, kind := range kinds {
		command := fmt.Sprintf("[%q, rival, %s]", program, kind)
		if kind == "absent" {
			command = "[no-such-program]"
		}
		scale.More += fmt.Sprintf("  %s: %s\n", kind, command)
	}
	return race6(t, scale.Folder(t), patience)
}

// race6 measures the kernel of a folder against its rivals in six rounds.
func race6(t *testing.T, folder string, patience time.Duration) *Result {
	t.Helper()
	cache := t.TempDir()
	b := &devices.Builder{
		Machine: devices.Here(devices.Tools{
			Cache:          cache,
			CompileTimeout: time.Minute,
			Getenv:         os.Getenv,
			Notice:         func(text string) { t.Log(text) },
		}),
		Cache: cache, Options: objective.Options{Seed: 1, RunTimeout: time.Minute},
	}
	defer b.Close()
	k, err := b.Machine.Load(t.Context(), folder, kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), b,
		Options{Kernel: k, Points: []Point{{Name: "default"}}, Rounds: 10, Samples: 3, Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// weigh is a rival of a kernel with structures: it is given their fields.
func weigh() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var q request
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			panic(err)
		}
		var scale float64
		for _, a := range q.Arguments {
			if a.Name == "setup.scale" {
				scale = a.Value.(float64)
			}
		}
		mass, err := os.ReadFile(filepath.Join(q.Folder, "bodies.mass.bin"))
		if err != nil {
			panic(err)
		}
		for at := 0; at < len(mass); at += 8 {
			value := math.Float64frombits(binary.LittleEndian.Uint64(mass[at:]))
			binary.LittleEndian.PutUint64(mass[at:], math.Float64bits(value*scale))
		}
		kind, err := os.ReadFile(filepath.Join(q.Folder, "bodies.kind.bin"))
		if err = errors.Join(err, os.WriteFile(filepath.Join(q.Folder, "results.weight.bin"), mass, 0o644),
			os.WriteFile(filepath.Join(q.Folder, "results.kind.bin"), kind, 0o644)); err != nil {
			panic(err)
		}
		fmt.Println(`{"samples_ms": [0.5, 0.5, 0.5]}`)
	}
}

// A kernel of several files that takes structures has rivals as any other.
func TestRivalsOfStructuresAndSeveralFiles(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const kernel = `#include "bodies.h"
void bodies(const struct body *bodies, struct setup setup, struct result *results) {
	for (int i = 0; i < setup.count; i++)
		results[i] = (struct result){bodies[i].kind, WEIGHT(bodies[i].mass, setup.scale)};
}
`
	folder := t.TempDir()
	for name, text := range map[string]string{
		"kernel.yaml": `name: bodies
entry: bodies
source: {host: [bodies.c, weight.c]}
reference: {host: reference.c}
params: {A: {values: [1, 2], default: 1}}
workloads: {small: {N: 100}}
args:
  - name: bodies
    type: struct body
    shape: [N]
    fields: [{name: kind, type: u8, fill: uniform}, {name: mass, type: f64, fill: uniform, range: [1, 2]}]
  - {name: setup, type: struct setup, fields: [{name: scale, type: f32, value: 2}, {name: count, type: i64, value: N}]}
  - name: results
    type: struct result
    shape: [N]
    out: true
    fields: [{name: kind, type: u8}, {name: weight, type: f64, tolerance: {atol: 1e-12, rtol: 0}}]
rivals: {other: [` + strconv.Quote(program) + `, structures]}
`,
		"bodies.h": `#include <stdint.h>
struct body { uint8_t kind; double mass; };
struct setup { float scale; int64_t count; };
struct result { uint8_t kind; double weight; };
double weight(double mass, float scale);
`,
		"bodies.c":    strings.Replace(kernel, "WEIGHT", "weight", 1),
		"reference.c": strings.Replace(kernel, "WEIGHT(bodies[i].mass, setup.scale)", "bodies[i].mass * setup.scale", 1),
		"weight.c": "double weight(double mass, float scale);\n" +
			"double weight(double mass, float scale) { return mass * scale; }\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r := race6(t, folder, time.Minute); len(r.Sides) != 2 || r.Sides[1].Missing != "" || len(r.Sides[1].Rounds) != 10 {
		t.Errorf("%+v", r.Sides)
	}
}

func TestRivals(t *testing.T) {
	kinds := []string{"good", "fast", "limit", "wrong", "fades", "silent", "dies", "lacks", "talks", "lies", "short",
		"absent"}
	r := run(t, time.Minute, kinds...)
	if len(r.Sides) != 1+len(kinds) || r.Best != 0 || len(r.Sides[0].Rounds) != 10 || r.Sides[0].Milliseconds <= 0 {
		t.Fatalf("%d sides, best %d: %+v", len(r.Sides), r.Best, r.Sides[0])
	}
	missing := map[string]string{
		"wrong": "is wrong: y[0] is", "fades": "is wrong: y[0] is", "silent": "wrote no output y",
		"dies":  "ended without an answer (exit status 3): ImportError: no module named library",
		"lacks": "there is no such library here",
		"talks": "answered what is no line of JSON", "lies": "answered with -1 ms, which is no time",
		"short":  "answered with 1 samples, 3 were asked for",
		"absent": "cannot be started: ",
	}
	verdicts := map[string]string{"good": "ours is faster", "fast": "it is faster", "limit": "a limit: computes nothing"}
	for _, s := range r.Sides[1:] {
		if want := missing[s.Name]; !strings.HasPrefix(s.Missing, want) || (s.Missing == "") != (want == "") ||
			s.Missing != "" && len(s.Rounds) > 0 {
			t.Errorf("%s: %q, want %q; %d rounds", s.Name, s.Missing, want, len(s.Rounds))
		}
		if want := verdicts[s.Name]; want != "" && s.Verdict() != want {
			t.Errorf("%s: %q, want %q", s.Name, s.Verdict(), want)
		}
	}
	if !r.Beaten() || r.Compared() != 2 {
		t.Errorf("beaten %v, %d compared", r.Beaten(), r.Compared())
	}
}

// A rival that hangs costs its patience, and is ended.
func TestHanging(t *testing.T) {
	r := run(t, time.Second, "hangs")
	if got := r.Sides[1].Missing; got != "no answer after 1s" || r.Compared() != 0 || r.Beaten() {
		t.Errorf("%q, %d compared", got, r.Compared())
	}
}

// A limit is faster than anything, and beats nobody; too few rounds decide nothing.
func TestCompare(t *testing.T) {
	rounds := func(ms float64, n int) (all [][]float64) {
		for range n {
			all = append(all, []float64{ms})
		}
		return all
	}
	r := &Result{Sides: []Side{
		{Name: "a", Ours: true, Rounds: rounds(2, 10)}, {Name: "b", Ours: true, Rounds: rounds(1, 10)},
		{Name: "limit", Limit: true, Rounds: rounds(0.5, 10)}, {Name: "equal", Rounds: rounds(1, 10)},
		{Name: "gone", Missing: "why"},
	}}
	for i := range r.Sides {
		r.Sides[i].summarise()
	}
	r.compare()
	if r.Best != 1 || r.Beaten() || r.Compared() != 1 {
		t.Errorf("best %d, beaten %v, compared %d", r.Best, r.Beaten(), r.Compared())
	}
	for i, want := range []string{"slower than our best", "", "a limit: computes nothing", "no difference shown",
		"no times: why"} {
		if got := r.Sides[i].Verdict(); got != want {
			t.Errorf("%s: %q, want %q", r.Sides[i].Name, got, want)
		}
	}
	if got := r.Sides[0].Speedup.Ratio; got != 2 {
		t.Errorf("ratio %g", got)
	}
	few := &Result{Sides: []Side{{Ours: true, Rounds: rounds(1, 2)}, {Rounds: rounds(0.1, 2)}}}
	few.Sides[0].summarise()
	few.Sides[1].summarise()
	few.compare()
	if few.Beaten() || few.Sides[1].Verdict() != "too few rounds to say" {
		t.Errorf("beaten %v, %q", few.Beaten(), few.Sides[1].Verdict())
	}
}

func FuzzReadResponse(f *testing.F) {
	for _, line := range []string{`{"samples_ms": [1, 2]}`, `{"missing": "x"}`, `{}`, `[]`, `{"samples_ms": [1e999]}`,
		""} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		answer, err := readResponse([]byte(line), 2)
		if err != nil && !errors.As(err, new(*missingError)) {
			t.Errorf("%q: %v", line, err)
		}
		if err == nil && len(answer.Samples) < 2 {
			t.Errorf("%q: %+v", line, answer)
		}
	})
}
