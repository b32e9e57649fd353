package spin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/kernels"
)

// The copy is a kernel that loads, with the original inside it; the original is
// untouched.
func TestWrite(t *testing.T) {
	for _, name := range kernels.Names() {
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
		for _, want := range []string{"#define " + k.Entry + " pawl_plain_entry", "void " + k.Entry + "(const float *pawl_argument_0", "0.05 * (double)(end - begin)"} {
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
