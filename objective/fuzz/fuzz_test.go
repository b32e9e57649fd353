package fuzz

import (
	"errors"
	"os"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/worker"
)

func matmul(t *testing.T) devices.Target {
	t.Helper()
	k, err := kernels.Load("matmul", kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	target, err := devices.NewTarget(k, "")
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func TestNewCase(t *testing.T) {
	target := matmul(t)
	c, err := NewCase(target, "M=3", "signs", "misaligned", 9)
	if err != nil {
		t.Fatal(err)
	}
	if c.Dims["M"] != 3 || c.Dims["N"] != target.Workload.Dims["N"] || c.Seed != 9 || c.Layout != worker.Misaligned ||
		target.Workload.Dims["M"] == 3 {
		t.Errorf("%+v of %+v", c, target.Workload)
	}
	for _, wrong := range []struct{ sizes, family, layout, want string }{
		{"M", "", "", "--shape: "},
		{"X=3", "", "", "--shape: X=3: a size of at least 1"},
		{"M=0", "", "", "--shape: M=0: a size of at least 1"},
		{"M=3", "odd", "", "--family: "},
		{"M=3", "", "odd", `--layout "odd": guarded, aligned or misaligned`},
	} {
		_, err := NewCase(target, wrong.sizes, wrong.family, wrong.layout, 1)
		var argument *devices.ArgumentError
		if !errors.As(err, &argument) || !strings.HasPrefix(err.Error(), wrong.want) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

// Points that cannot run here are neither right nor wrong, unless others could.
func TestVerdicts(t *testing.T) {
	right, wrong, infeasible := Point{}, Point{Failure: &objective.Failure{Stage: objective.Fuzz}},
		Point{Failure: &objective.Failure{Stage: objective.Preflight}}
	for _, test := range []struct {
		points            []Point
		wrong, infeasible bool
	}{
		{[]Point{right}, false, false},
		{[]Point{right, wrong}, true, false},
		{[]Point{infeasible, right}, false, false},
		{[]Point{infeasible, infeasible}, false, true},
	} {
		r := &Report{Points: test.points}
		if r.Wrong() != test.wrong || r.Infeasible() != test.infeasible {
			t.Errorf("%+v: wrong %v, infeasible %v", test.points, r.Wrong(), r.Infeasible())
		}
	}
}

// One case is checked alone; the full tier is followed by random cases.
func TestCases(t *testing.T) {
	target := matmul(t)
	single, err := NewCase(target, "M=3", "", "", 1)
	if err != nil {
		t.Fatal(err)
	}
	m := devices.Here(devices.Tools{Cache: t.TempDir(), Getenv: os.Getenv, Notice: func(string) {}})
	b, err := m.Open(t.Context(), target, objective.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for want, o := range map[int]Options{1: {Case: single}, 7: {Cases: 7}} {
		c := &checker{Target: target, Options: o, Evaluator: b.Evaluator}
		cases, _ := c.cases(target.Space.Default())
		n := 0
		for range cases {
			n++
		}
		if o.Case == nil {
			n -= len(c.Tester.FullCases(target.Space.Default()))
		}
		if n != want {
			t.Errorf("%d cases, want %d", n, want)
		}
	}
}
