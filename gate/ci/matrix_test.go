package ci

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/gate/policy"
)

func TestMatrix(t *testing.T) {
	s := kernelRepository(t)
	for _, c := range []struct {
		policy  string
		runners []string
		all     bool
		want    string // JSON, or part of an error
	}{
		{"kernels: [{kernel: ./k}]", nil, false, `{"include":[{"kernel":"./k","workload":"small","runner":"ubuntu-24.04"}]}`},
		{"kernels: [{kernel: ./k}]", []string{"gpu"}, true,
			`{"include":[{"kernel":"./k","workload":"small","runner":"gpu"},{"kernel":"./k","workload":"large","runner":"gpu"}]}`},
		{"kernels: [{kernel: ./k, workloads: [large], backend: host}]", []string{"a", "b"}, false,
			`{"include":[{"kernel":"./k","workload":"large","runner":"a","backend":"host"},{"kernel":"./k","workload":"large","runner":"b","backend":"host"}]}`},
		{"kernels: [{kernel: ./k, at: B=1}, {kernel: ./k, at: B=2}]", []string{"a", "a"}, false,
			`{"include":[{"kernel":"./k","workload":"small","runner":"a"}]}`},
		// only for CUDA
		{"kernels: [{kernel: softmax}]", []string{"a"}, false, `{"include":[{"kernel":"softmax","workload":"`},
		{"kernels: [{kernel: ./k, workloads: [lrage]}]", nil, false, "lrage"},
		{"kernels: [{kernel: ./nowhere}]", nil, false, `no kernel "./nowhere"`},
		{"kernels: [{kernel: ./k}]", []string{"line\nbreak\u2028"}, false,
			`{"include":[{"kernel":"./k","workload":"small","runner":"line\nbreak\u2028"}]}`},
	} {
		file, err := policy.Parse("gate.yaml", []byte(c.policy))
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := Matrix(file, c.runners, c.all)
		text, _ := json.Marshal(jobs)
		if err != nil {
			text = []byte(err.Error())
		}
		if !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %s, want %s", c.policy, text, c.want)
		}
	}
	var runners []string
	for i := range 257 {
		runners = append(runners, fmt.Sprint(i))
	}
	if _, err := Matrix(policy.Default(filepath.Join(s.work, "k")), runners, false); err == nil ||
		!strings.Contains(err.Error(), "at most 256") {
		t.Errorf("%v", err)
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
