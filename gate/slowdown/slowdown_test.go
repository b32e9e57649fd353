package slowdown

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pawl/internal/kerneltest"
	"pawl/kernels"
)

// The copy is a kernel that loads, with the original inside it; the original is
// untouched.
func TestWrite(t *testing.T) {
	for _, name := range kerneltest.NamesFor(kernels.Host) {
		k, err := kernels.Load(name, kernels.Host)
		if err != nil {
			t.Fatal(err)
		}
		from, err := k.Materialise(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "slow")
		if err := Write(k, from, to, 0.05, Calibration{}); err != nil {
			t.Fatal(err)
		}
		slow, err := kernels.Load(to, kernels.Host)
		if err != nil {
			t.Fatal(err)
		}
		wrapped, err := os.ReadFile(filepath.Join(to, slow.Source))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"#define " + k.Entry + " pawl_plain_entry",
			"void " + k.Entry + "(const float *pawl_argument_0", "pawl_spin_share = 0.05;"} {
			if !strings.Contains(string(wrapped), want) {
				t.Errorf("%s: no %q in %s", name, want, wrapped)
			}
		}
		original, err := os.ReadFile(filepath.Join(to, plain+filepath.Base(k.Source)))
		if err != nil {
			t.Fatal(err)
		}
		if untouched, err := os.ReadFile(filepath.Join(from, k.Source)); err != nil || string(original) != string(untouched) {
			t.Errorf("%s: the original changed (%v)", name, err)
		}
		if err := Write(k, from, to, -1, Calibration{}); err == nil {
			t.Error("a negative slowdown")
		}
	}
}

// A loop that lies elsewhere may be slower by more than the share, so the machine
// code must not depend on it.
func TestTheShareIsNotInTheCode(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("object files of " + runtime.GOOS + " are no ELF files")
	}
	k, err := kernels.Load("matmul", kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	k.Entry = "scale"
	const source = "#include <stdint.h>\nvoid scale(const float *a, const float *b, float *c, int32_t m, int32_t n, " +
		"int32_t k) { for (int i = 0; i < m; i++) c[i] = a[i] + b[i]; }\n"
	var first []byte
	for _, share := range []float64{0, 0.01, 0.1} {
		dir := t.TempDir()
		object := filepath.Join(dir, "kernel.o")
		for name, content := range map[string]string{"plain.c": source, "kernel.c": wrapper(k, "plain.c", share)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if output, err := exec.Command("cc", "-O3", "-c", "-o", object,
			filepath.Join(dir, "kernel.c")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		file, err := elf.Open(object)
		if err != nil {
			t.Fatal(err)
		}
		code, err := file.Section(".text").Data()
		file.Close()
		if err != nil || len(code) == 0 {
			t.Fatal(err)
		}
		if first == nil {
			first = code
		}
		if !bytes.Equal(code, first) {
			t.Errorf("a share of %g has other machine code than one of 0", share)
		}
	}
}
