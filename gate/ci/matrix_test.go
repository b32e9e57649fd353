package ci

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/gate/policy"
)

func TestMatrix(t *testing.T) {
	kernelRepository(t)
	for _, c := range []struct {
		policy string
		choice Selection
		want   string // JSON, or part of an error
	}{
		{"kernels: [{kernel: ./k}]", Selection{},
			`{"include":[{"kernel":"./k","workload":"small","runner":"ubuntu-24.04"}]}`},
		{"kernels: [{kernel: ./k, workloads: [small, large]}]", Selection{Runner: "gpu"},
			`{"include":[{"kernel":"./k","workload":"small","runner":"gpu"},{"kernel":"./k","workload":"large","runner":"gpu"}]}`},
		{"kernels: [{kernel: ./k, workloads: [large], backend: host}]", Selection{Runner: "a"},
			`{"include":[{"kernel":"./k","workload":"large","runner":"a","backend":"host"}]}`},
		{"kernels: [{kernel: ./k, at: B=1}, {kernel: ./k, at: B=2}]", Selection{Runner: "a"},
			`{"include":[{"kernel":"./k","workload":"small","runner":"a"}]}`},
		// only for CUDA
		{"kernels: [{kernel: softmax}]", Selection{Runner: "a"}, `{"include":[{"kernel":"softmax","workload":"`},
		{"kernels: [{kernel: ./k, workloads: [lrage]}]", Selection{}, "lrage"},
		{"kernels: [{kernel: ./nowhere}]", Selection{}, `no kernel "./nowhere"`},
		// What somebody writes into the form of a dispatch.
		{"kernels: [{kernel: ./k}]", Selection{Runner: "line\nbreak"}, "no label of a runner"},
		{"kernels: [{kernel: ./k}]", Selection{Kernel: "./k; rm -rf /"},
			`the policy has no kernel "./k; rm -rf /"; it has ./k`},
		{"kernels: [{kernel: ./k}]", Selection{Workload: "large"}, "a workload is one of a kernel"},
		{"kernels: [{kernel: ./k}]", Selection{Kernel: "./k", Workload: "$(id)"}, "$(id)"},
		{"kernels: [{kernel: softmax}, {kernel: ./k}]", Selection{Kernel: "./k", Workload: "large"},
			`{"include":[{"kernel":"./k","workload":"large","runner":"ubuntu-24.04"}]}`},
		{"kernels: [{kernel: ./k, workloads: [small, large]}]", Selection{Budget: 5 * time.Minute},
			`{"include":[{"kernel":"./k","workload":"small","runner":"ubuntu-24.04","budget":"2m30s"},` +
				`{"kernel":"./k","workload":"large","runner":"ubuntu-24.04","budget":"2m30s"}]}`},
	} {
		file, err := policy.Parse("gate.yaml", []byte(c.policy))
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := Matrix(file, c.choice)
		text, _ := json.Marshal(jobs)
		if err != nil {
			text = []byte(err.Error())
		}
		if !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %s, want %s", c.policy, text, c.want)
		}
	}
}

func TestOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "output")
	for name, value := range map[string]string{"run": "true\nmatrix=evil", "a=b": "c", "": "x", "m": "a\rb"} {
		if err := Output(path, name, value); err == nil {
			t.Errorf("%q=%q was written", name, value)
		}
	}
	if err := Output("", "run", "true"); err != nil {
		t.Error(err)
	}
	for _, value := range []string{"true", "false"} {
		if err := Output(path, "run", value); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "run=true\nrun=false\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := Output(t.TempDir(), "run", "true"); err == nil {
		t.Error("a folder was written")
	}
}
