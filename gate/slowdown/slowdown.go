// Package slowdown makes kernels slower by a known share of their own time, to see
// whether the gate notices.
//
// The slowdown is honest: the kernel is compiled from its own sources, does its own
// work, and then spins for a share of the time that this very call has taken. So
// the share holds at any clock, and results stay right.
package slowdown

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pawl/kernels"
)

// plain is put before the name of the kernel's source where the wrapper takes its
// place.
const plain = "plain_"

// Write copies a kernel's folder to another one and makes the copy slower by a
// share: 0.03 is 3 %. A share of 0 has the same addition, which then does not
// spin. The calibration is for CUDA; the processor needs none.
func Write(k *kernels.Kernel, from, to string, share float64, calibration Calibration) error {
	if !(share >= 0) {
		return fmt.Errorf("slowing kernel %s by a share of %v: at least 0", k.Name, share)
	}
	if err := write(k, from, to, share, calibration); err != nil {
		return fmt.Errorf("slowing kernel %s: %w", k.Name, err)
	}
	return nil
}

func write(k *kernels.Kernel, from, to string, share float64, calibration Calibration) error {
	err := os.RemoveAll(to)
	if err == nil {
		err = os.CopyFS(to, os.DirFS(from))
	}
	switch {
	case err != nil:
		return err
	case strings.ContainsAny(k.Entry, "<:"):
		return fmt.Errorf("its entry %s is no plain function", k.Entry)
	case len(k.Launch.Steps) > 1:
		return errors.New("it is several functions, and only one can be slowed; name another kernel")
	case k.Tiled():
		return fmt.Errorf("nothing is known that spins in %s; choose a kernel in CUDA C++", k.Source)
	case k.On().GPU:
		return writeCUDA(k, to, share, calibration)
	}
	source := filepath.Join(to, k.Source)
	original := filepath.Join(filepath.Dir(source), plain+filepath.Base(source))
	if err := os.Rename(source, original); err != nil {
		return err
	}
	return os.WriteFile(source, []byte(wrapper(k, filepath.Base(original), share)), 0o644)
}

// wrapper returns a source with the kernel's entry function round the original.
func wrapper(k *kernels.Kernel, original string, share float64) string {
	var parameters, arguments []string
	for i, a := range k.Arguments {
		name := fmt.Sprintf("pawl_argument_%d", i)
		kind := a.Element.C
		switch {
		case a.Symbol != "":
			continue // a variable of the original, no parameter
		case a.Fields != nil && a.Shape == nil:
			kind = a.CType + " "
		case a.Value != nil:
			kind += " "
		case a.Lanes > 1 && (a.Out || a.Scratch):
			kind = "void *"
		case a.Lanes > 1:
			kind = "const void *"
		case a.Out || a.Scratch:
			kind += " *"
		default:
			kind = "const " + kind + " *"
		}
		parameters, arguments = append(parameters, kind+name), append(arguments, name)
	}
	return fmt.Sprintf(`#include <stdint.h>
#include <time.h>
#define %[1]s pawl_plain_entry
#include %[2]q
#undef %[1]s
static int64_t pawl_spin_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
/* The machine code is the same for every share. Neither the share nor the call can
 * be seen through: a loop that the compiler has inlined at another address may be
 * faster or slower by more than the share. */
static volatile double pawl_spin_share = %[5]g;
static void (*volatile pawl_spin_plain)(%[3]s) = pawl_plain_entry;
void %[1]s(%[3]s) {
	int64_t begin = pawl_spin_now();
	pawl_spin_plain(%[4]s);
	int64_t end = pawl_spin_now();
	/* Reading the clock takes time too: every share reads it once here, and the
	 * spin ends at the reading nearest to its mark, not at the first past it. */
	int64_t now = pawl_spin_now();
	int64_t step = now - end;
	int64_t until = now + (int64_t)(pawl_spin_share * (double)(end - begin));
	while (now + step / 2 < until) {
		int64_t before = now;
		now = pawl_spin_now();
		step = now - before;
	}
}
`, k.Entry, original, strings.Join(parameters, ", "), strings.Join(arguments, ", "), share)
}
