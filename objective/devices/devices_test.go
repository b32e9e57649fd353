package devices

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective"
	"pawl/space"
)

// The test binary plays the program's other role: a worker.
func TestMain(m *testing.M) {
	Serve()
	os.Exit(m.Run())
}

func here(t *testing.T, notices *[]string) *Machine {
	return Here(Tools{
		Cache:  t.TempDir(),
		Getenv: os.Getenv,
		Notice: func(text string) { *notices = append(*notices, text) },
	})
}

// What is asked for by a wrong name is an ArgumentError that says what there is.
func TestWrongNames(t *testing.T) {
	var notices []string
	m := here(t, &notices)
	k, err := m.Load(t.Context(), "matmul", kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	target, err := NewTarget(k, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func() error{
		"matmull":   func() error { _, err := m.Load(t.Context(), "matmull", Auto); return err },
		"nothing":   func() error { _, err := NewTarget(k, "nothing"); return err },
		"TILE_M":    func() error { _, err := target.Point("TILE_M"); return err },
		"TILE_M=-1": func() error { _, err := target.Point("TILE_M=-1"); return err },
	} {
		err := try()
		var wrong *ArgumentError
		if !errors.As(err, &wrong) || (wrong.Name != "" && (wrong.Name != name || len(wrong.Known) == 0)) {
			t.Errorf("%s: %#v", name, err)
		}
	}
}

// On a machine without a GPU auto runs on the processor, cuda is refused with advice,
// and a space can be shown all the same.
func TestWithoutAGPU(t *testing.T) {
	var notices []string
	m := here(t, &notices)
	if m.Missing(t.Context(), kernels.CUDA) == nil {
		t.Skip("there is one")
	}
	k, err := m.Load(t.Context(), "attention", Auto)
	if err != nil || k.Backend != kernels.Host {
		t.Fatalf("%v, %v", k, err)
	}
	for name, want := range map[string]string{
		"attention":        "--backend host runs here",
		"attention_hopper": "is for backend cuda only",
	} {
		if _, err := m.Load(t.Context(), name, kernels.CUDA); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m.tools.Absent = true
	hopper, err := m.Load(t.Context(), "attention_hopper", Auto)
	if err != nil {
		t.Fatal(err)
	}
	target, err := NewTarget(hopper, "")
	if err != nil {
		t.Fatal(err)
	}
	if limits := m.Limits(t.Context(), target); limits != nil {
		t.Errorf("limits of a device that is not here: %v", limits)
	}
	m.LockClocks(t.Context(), k, 1500, nil)()
	m.LockClocks(t.Context(), k, 0, nil)()
	if len(notices) != 1 || !strings.Contains(notices[0], "--lock-clocks has no effect") {
		t.Errorf("%q", notices)
	}
}

type odd struct{}

func (odd) Preflight(p space.Point) *objective.Failure {
	if x, _ := p.Get("X"); x.Integer()%2 == 1 {
		return &objective.Failure{Stage: objective.Preflight, Reason: objective.Infeasible, Detail: "X is odd"}
	}
	return nil
}

func TestTheDefaultStays(t *testing.T) {
	values := []space.Value{space.IntegerValue(1), space.IntegerValue(2), space.IntegerValue(3)}
	s, err := space.New([]space.Param{{Name: "X", Values: values, Default: values[0], Ordered: true}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kept, removed, err := Feasible(pool, odd{})
	if err != nil || kept.Len() != 2 || removed["X is odd"] != 1 {
		t.Errorf("%d kept, %v removed, %v", kept.Len(), removed, err)
	}
}

// Where the cache cannot be written nothing works, and the finding says what to do.
func TestProbe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for cache, want := range map[string]bool{t.TempDir(): true, file: false} {
		findings, usable, _ := Probe(t.Context(), Tools{Cache: cache, Getenv: os.Getenv})
		i := slices.IndexFunc(findings, func(f Finding) bool { return f.Name == "compile cache" })
		if usable != want || (findings[i].Found != "") != want || (findings[i].Advice == "") != want {
			t.Errorf("%s: %v, %+v", cache, usable, findings[i])
		}
	}
}
