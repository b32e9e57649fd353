package kernels

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/space"
)

const templated = `name: scale
entry: "tiled::scale<{LANES}, {PACK}, float>"
source: {host: scale.cpp, cuda: scale.cu}
reference: scale.c
params:
  LANES: {values: [1, 2], default: 2}
  PACK: {values: [false, true], default: true}
workloads: {small: {N: 8}}
args: [{name: y, type: f32, shape: [N], out: true}]
launch: {grid: [N], block: [LANES]}
`

func TestInstancesAsEntries(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("scale.cu", `namespace tiled {
template <int Lanes, bool Pack, class T> __global__ void __launch_bounds__(32 * Lanes) scale(T *y) {}
template <class T> __global__ void other(T *y) {}
}`)
	write("scale.cpp", "namespace tiled { template <int L, bool P, class T> void scale(T *y) {} }")
	write("scale.c", "void scale(float *y) {}")
	write(ManifestName, templated)
	for _, backend := range []string{Host, CUDA} {
		k, err := Load(dir, backend)
		if err != nil {
			t.Fatal(err)
		}
		if got := EntryAt(k.Launch.Steps[0].Entry, k.Default()); got != "tiled::scale<2, true, float>" ||
			k.Launch.Reference.Entry != "scale" {
			t.Errorf("%s: %s, %s", backend, got, k.Launch.Reference.Entry)
		}
	}
	for _, test := range []struct{ backend, old, new, message string }{
		{CUDA, "{LANES}", "{LANE}",
			`kernel.yaml:2:8: entry "tiled::scale<{LANE}, {PACK}, float>": there is no parameter LANE`},
		{CUDA, "{LANES}", "{2}", "braces stand round the name of a parameter"},
		{Host, "scale.cpp", "scale.c", "is C++, and scale.c is taken for C by its name: call it .cpp"},
		{CUDA, "float>", "float>; g", "is not a function name"},
	} {
		write(ManifestName, strings.Replace(templated, test.old, test.new, 1))
		if _, err := Load(dir, test.backend); err == nil || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%s: %v, want %q", test.new, err, test.message)
		}
	}
	if got := EntryAt("f<{A}>", space.Point{}); got != "f<{A}>" {
		t.Error(got)
	}
}

// One file name is for the backend whose compiler takes it; several have no place.
func TestOneSourceIsForItsBackend(t *testing.T) {
	rest := "name: k\nentry: k\nreference: k.c\nparams: {A: {values: [1, 2], default: 1}}\nworkloads: {w: {N: " +
		"4}}\nargs: [{name: y, type: f32, shape: [N], out: true}]\nlaunch: {grid: [1], block: [1]}\n"
	for source, backend := range map[string]string{"k.c": Host, "k.cpp": Host, "k.cu": CUDA} {
		other := map[string]string{Host: CUDA, CUDA: Host}[backend]
		if _, err := parse("kernel.yaml", []byte(rest+"source: "+source+"\n"), backend); err != nil {
			t.Errorf("%s: %v", source, err)
		}
		_, err := parse("kernel.yaml", []byte(rest+"source: "+source+"\n"), other)
		if none := (*NoSourceError)(nil); !errors.As(err, &none) {
			t.Errorf("%s for %s: %v", source, other, err)
		}
	}
}

// A list has the file with the entry first, and units that are linked with it.
func TestSeveralUnits(t *testing.T) {
	rest := "name: k\nentry: k\nreference: k.c\nworkloads: {w: {N: 4}}\nparams: {A: {values: [1, 2], default: " +
		"1}}\nargs: [{name: y, type: f32, shape: [N], out: true}]\nlaunch: {grid: [1], block: [1]}\n"
	for _, test := range []struct{ text, backend, want string }{
		{"source: [k.c, l.cpp]", Host, ""},
		{"source: {cuda: [k.cu, l.cu], host: k.c}", CUDA, ""},
		{"source: k.c\nhost: {source: [k.c, l.c], include: [common, more/of]}", Host, ""},
		{"source: [k.c, l.h]", Host,
			"kernel.yaml:8:15: source: l.h is compiled on its own and linked, so its name must end in .c, .cc, .cpp, .cxx"},
		{"source: [k.cu, l.c]", CUDA,
			"kernel.yaml:8:16: source: l.c is compiled on its own and linked, so its name must end in .cu"},
		{"source: [k.c, l.c, l.c]", Host, "source: l.c is listed twice"},
		{"source: []", Host, "expected the name of a file, that with the entry first"},
		{"source: k.c\ninclude: [../shared]", Host, `kernel.yaml:9:11: include: "../shared" leaves the kernel's folder`},
	} {
		k, err := parse("kernel.yaml", []byte(rest+test.text+"\n"), test.backend)
		switch {
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %q", test.text, err, test.want)
		case test.want == "" && (err != nil || len(k.Units)+len(k.Include) == 0):
			t.Errorf("%s: %+v, %v", test.text, k, err)
		}
	}
}
