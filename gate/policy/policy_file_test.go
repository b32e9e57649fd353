package policy

import (
	"strings"
	"testing"
	"time"

	"pawl/gate"
)

func TestOverridesReplaceTheLevelBelow(t *testing.T) {
	f, err := Parse("gate.yaml", []byte(`
preset: relaxed
budget: 90s
profile: [improvement]
kernels:
  - {kernel: attention, workloads: [chat_256, batch_64]}
  - kernel: ./scale
    preset: strict
    at: BLOCK=4
    regression: 1.5%
    rounds: [12, 24]
    lock_clocks: 1500
    tail: {p95: 25%, fail: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	first, second := f.Kernels[0], f.Kernels[1]
	if first.Policy.Regression != gate.Presets["relaxed"].Regression || first.Policy.Budget != 90*time.Second ||
		len(first.Workloads) != 2 {
		t.Errorf("%+v", first)
	}
	// A kernel's preset replaces everything that the file says.
	if second.Policy.Regression != 0.015 || second.Policy.Budget != gate.Presets["strict"].Budget ||
		second.Policy.Rounds[1] != 24 || second.At != "BLOCK=4" || second.Policy.LockClocks != 1500 ||
		first.Policy.LockClocks != 0 {
		t.Errorf("%+v", second)
	}
	if first.Policy.Tail != gate.DefaultTail ||
		second.Policy.Tail != (gate.TailLimits{P95: 0.25, P99: gate.DefaultTail.P99, Fail: true}) {
		t.Errorf("%+v and %+v", first.Policy.Tail, second.Policy.Tail)
	}
	if len(f.Profile) != 1 || f.Profile[0] != gate.Improvement {
		t.Errorf("%v", f.Profile)
	}
	for text, want := range map[string]int{"": 2, "profile: []\n": 0} {
		f, err := Parse("gate.yaml", []byte(text+"kernels: [{kernel: attention}]\n"))
		if err != nil || len(f.Profile) != want {
			t.Errorf("%q: %v, %v", text, f, err)
		}
	}
}

func TestMistakesHaveTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"kernels: [{kernel: a, backend: gpu}]":         `no backend "gpu"; there are host, cuda, command`,
		"preset: stirct\nkernels: [{kernel: a}]":       `p:1:9: no preset "stirct"; there are relaxed, standard, strict`,
		"kernels:\n  - {kernel: a, regresion: 3%}":     `p:2:17: unknown field "regresion"`,
		"regression: 300%\nkernels: [{kernel: a}]":     `p:1:13: "300%" is not a share`,
		"kernels:\n  - {kernel: a, rounds: [4]}":       "p:2:26: an analysis after 4 rounds can show nothing",
		"kernels:\n  - {kernel: a, rounds: [20, 10]}":  "do not rise",
		"kernels:\n  - {kernel: a, budget: soon}":      `budget "soon"`,
		"kernels:\n  - {kernel: a, samples: -1}":       "not a whole number",
		"kernels:\n  - {kernel: a, erosion: 1%}":       "below regression",
		"kernels:\n  - {kernel: a, workloads: [x, x]}": "workload x is listed twice",
		"kernels:\n  - {workloads: [x]}":               "a kernel without a name",
		"kernels:\n  - {kernel: a, tail: 10%}":         "",
		"kernels:\n  - {kernel: a, tail: {p90: 10%}}":  `unknown field "p90"`,
		"kernels:\n  - {kernel: a, tail: {p95: 0%}}":   "tail p95 is 0",
		"kernels:\n  - {kernel: a, tail: {fail: 7}}":   `p:2:30: "7" is neither true nor false`,
		"preset: strict":                               "kernels is missing",
		"shards: 0\nkernels: [{kernel: a}]":            `p:1:9: shards: "0" is not a whole number of at least 1`,
		"kernels: [{kernel: a}]\nprofile: [sometimes]": `no verdict "sometimes"`,
		"": "the policy is empty",
		"kernels: [{kernel: a}]\n---\nkernels: [{kernel: b}]":         "more than one document",
		"kernels: [{kernel: [a, b]}]":                                 "expected one value",
		"kernels: [{kernel: a}]\nimprovement: 0%":                     "improvement is 0",
		"kernels: [{kernel: a}]\nalarm: 20%":                          "alarm is 0.2",
		"kernels: [{kernel: a}]\nrounds: [10, 20, 4000]\nsamples: 20": "at most 1000",
	} {
		_, err := Parse("p", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("preset: strict\nkernels: [{kernel: a, regression: 3%}]"))
	f.Add([]byte("kernels: &a [*a]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := Parse("p", content)
		if err != nil {
			return
		}
		for _, k := range file.Kernels {
			if err := k.Policy.Validate(); err != nil {
				t.Errorf("%s: %v", k.Name, err)
			}
		}
	})
}

// Programs have their own command, pattern, rounds and time, and the limits of the file.
func TestPrograms(t *testing.T) {
	const text = `regression: 2%
programs:
  - {program: ./bench --csv}
  - {program: ./bench --all, name: all, build: make, rows: ^BM_, rounds: [30], budget: 5m, regression: 4%}
`
	f, err := Parse("gate.yaml", []byte(text))
	if err != nil || len(f.Programs) != 2 {
		t.Fatal(f, err)
	}
	first, second := f.Programs[0], f.Programs[1]
	if first.Name != "./bench --csv" || first.Rows != nil || first.Rounds != 0 || first.Policy.Regression != 0.02 {
		t.Errorf("%+v", first)
	}
	if second.Name != "all" || second.Line != "./bench --all" || second.Build != "make" ||
		!second.Rows.MatchString("BM_x") || second.Rounds != 30 || second.Within != 5*time.Minute ||
		second.Policy.Regression != 0.04 {
		t.Errorf("%+v", second)
	}
	for wrong, want := range map[string]string{
		"programs: [{name: x}]":                        "needs program: COMMAND",
		"programs: [{program: x, rows: '('}]":          "rows is no regular expression",
		"programs: [{program: x, rounds: [1, 2]}]":     "rounds of a program is one number",
		"programs: [{program: x}, {program: x}]":       "two programs are called x",
		"programs: [{program: x, regression: banana}]": "banana",
	} {
		if _, err := Parse("gate.yaml", []byte(wrong)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", wrong, err, want)
		}
	}
}
