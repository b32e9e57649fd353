package slowdown

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/kernels"
)

func TestCalibration(t *testing.T) {
	c := Begin(0.05)
	if got := c.stay(1); got != 200_000 {
		t.Errorf("twice as slow, at first: stays %v cycles", got)
	}
	// A GPU of 1.6 cycles a nanosecond, where a launch takes 2 µs beside the first
	// block: after two tries a slowdown of up to a tenth is right to three thousandths.
	took := func(cycles float64) float64 { return (cycles/1.6 + 2000) / 50_000 }
	for _, share := range []float64{0.3, 0.05} {
		c = c.Learn(share, took(c.stay(share)))
	}
	for _, share := range []float64{0.01, 0.035, 0.1} {
		if got := took(c.stay(share)) - 1; math.Abs(got-share) > 0.003 {
			t.Errorf("slowed by %v, want %v", got, share)
		}
	}
	if c.stay(0) != 0 {
		t.Error("no slowdown, but a spin")
	}
}

// The guard stands first in the entry function, whatever stands between its name
// and its body, and nowhere else.
func TestWriteCUDA(t *testing.T) {
	folder := t.TempDir()
	const source = "extern \"C\" __global__ void scale(float *x);\nextern \"C\" __global__ void " +
		"__launch_bounds__(128)\nscale(float *x,\n  int n) // comment\n{ if (n) return; }\n"
	if err := os.WriteFile(filepath.Join(folder, "k.cu"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	k := &kernels.Kernel{Name: "scale", Backend: kernels.CUDA}
	k.Entry, k.Source = "scale", "k.cu"
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
	if err != nil || !strings.Contains(string(slowed), "int n)\n{\n    pawl_stay pawl_guard; if (n)") ||
		!strings.Contains(string(slowed), "begin < 110000LL") {
		t.Errorf("%s %v", slowed, err)
	}
}
