package spin

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/kernels"
)

func TestCalibration(t *testing.T) {
	begun := Begin(0.05)
	if got := begun.stay(1); got != 100_000 {
		t.Errorf("twice as slow: stays %v ns", got)
	}
	// The second look finds a kernel of 49 µs, which the spin of 55 µs ends
	// 1.5 µs after: that belongs to the launch.
	c := begun.Complete(0.1, 0.049, 0.0565)
	if math.Abs(c.Kernel-49_000) > 1e-6 || math.Abs(c.Outside-1500) > 1e-6 {
		t.Fatalf("%+v", c)
	}
	if got := c.stay(0.1); math.Abs(got-(53_900-1500)) > 1e-6 {
		t.Errorf("a tenth slower: stays %v ns", got)
	}
	if c.stay(0) != 0 {
		t.Error("no slowdown, but a spin")
	}
}

// The guard stands first in the entry function, whatever stands between its name
// and its body, and nowhere else.
func TestWriteCUDA(t *testing.T) {
	folder := t.TempDir()
	const source = "extern \"C\" __global__ void scale(float *x);\nextern \"C\" __global__ void __launch_bounds__(128)\nscale(float *x,\n  int n) // comment\n{ if (n) return; }\n"
	if err := os.WriteFile(filepath.Join(folder, "k.cu"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	k := &kernels.Kernel{Name: "scale", Entry: "scale", Source: "k.cu", Backend: kernels.CUDA}
	err := writeCUDA(k, folder, 0.1, Begin(0.05))
	if err == nil || !strings.Contains(err.Error(), "no definition of scale") {
		t.Fatalf("a comment before the body: %v", err) // refused rather than guessed
	}
	plain := strings.Replace(source, " // comment", "", 1)
	if err := os.WriteFile(filepath.Join(folder, "k.cu"), []byte(plain), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeCUDA(k, folder, 0.1, Begin(0.05)); err != nil {
		t.Fatal(err)
	}
	slowed, err := os.ReadFile(filepath.Join(folder, "k.cu"))
	if err != nil || !strings.Contains(string(slowed), "int n)\n{\n    pawl_stay pawl_guard; if (n)") || !strings.Contains(string(slowed), "begin < 55000ULL") {
		t.Errorf("%s %v", slowed, err)
	}
}
