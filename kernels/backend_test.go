package kernels

import (
	"errors"
	"strings"
	"testing"

	"pawl/space"
)

// The preferred backend is tried first, then the others; a name that is no backend is none.
func TestLoadAny(t *testing.T) {
	for _, try := range []struct{ kernel, preferred, want string }{
		{"attention", "", Host}, {"attention", CUDA, CUDA}, {"attention", "auto", Host}, {"rmsnorm", "", CUDA},
		{"rmsnorm", Host, CUDA}, {"matmul", CUDA, Host},
	} {
		k, err := LoadAny(try.kernel, try.preferred)
		if err != nil || k.Backend != try.want || k.On().Name != try.want {
			t.Errorf("%s, rather for %q: %v, %v; want %s", try.kernel, try.preferred, k, err, try.want)
		}
	}
	if _, err := LoadAny("nothing", ""); !errors.As(err, new(*NotFoundError)) {
		t.Errorf("no such kernel: %v", err)
	}
	if _, err := Load("attention", "metal"); !errors.As(err, new(*NoSourceError)) {
		t.Errorf("no such backend: %v", err)
	}
}

// A program that shares its params with a source keeps its default too.
func TestDefaultsOfAProgramStay(t *testing.T) {
	manifest := `name: both
entry: f
source: {host: f.c}
reference: {host: f.c}
params: {N: {values: [1, 2], default: 1}}
workloads: {one: {S: 8}}
args: [{name: x, type: f32, shape: [S], out: true}]
`
	two, err := space.ParsePoint("N=2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := WithDefaults("kernel.yaml", []byte(manifest), Host, two); err != nil {
		t.Errorf("a source alone: %v", err)
	}
	with := manifest + "command: {run: [echo, \"{N}\"]}\n"
	_, err = WithDefaults("kernel.yaml", []byte(with), Host, two)
	if err == nil || !strings.Contains(err.Error(), "the defaults of command would change with those of host") {
		t.Errorf("beside a program: %v", err)
	}
}
