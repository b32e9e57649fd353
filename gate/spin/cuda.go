package spin

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"pawl/kernels"
)

// Calibration is what is known about a CUDA kernel's time. A block that spins
// leaves its multiprocessor to the others, so a share of each block's time would
// not be a share of the kernel's. Instead the first block alone stays until the
// time is over that the whole kernel is to take.
type Calibration struct {
	// Kernel is the kernel's own time, in nanoseconds.
	Kernel float64
	// Outside is the part of a launch's time before the first block begins and
	// after it ends.
	Outside float64
}

// Begin is the calibration by the kernel's own time, in milliseconds, without
// knowing what lies outside the first block.
func Begin(kernel float64) Calibration { return Calibration{Kernel: 1e6 * kernel} }

// Complete learns from a copy that was written with this calibration and slowed
// by a share: from what the kernel and the copy took in turns, in milliseconds.
func (c Calibration) Complete(share, kernel, slowed float64) Calibration {
	return Calibration{Kernel: 1e6 * kernel, Outside: 1e6*slowed - c.stay(share)}
}

// stay is how long the first block stays, in nanoseconds.
func (c Calibration) stay(share float64) float64 {
	if share == 0 {
		return 0
	}
	return max(0, (1+share)*c.Kernel-c.Outside)
}

// writeCUDA puts a guard into the entry function whose end, on whatever way out,
// keeps the first block waiting.
func writeCUDA(k *kernels.Kernel, folder string, share float64, calibration Calibration) error {
	path := filepath.Join(folder, k.Source)
	source, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("slowing kernel %s: %w", k.Name, err)
	}
	body, err := bodyOf(string(source), k.Entry)
	if err != nil {
		return fmt.Errorf("slowing kernel %s: %s: %w", k.Name, k.Source, err)
	}
	slowed := guard(calibration.stay(share)) + string(source[:body]) + "\n    pawl_stay pawl_guard;" + string(source[body:])
	if err := os.WriteFile(path, []byte(slowed), 0o644); err != nil {
		return fmt.Errorf("slowing kernel %s: %w", k.Name, err)
	}
	return nil
}

// bodyOf returns the index behind the opening brace of a function's definition.
func bodyOf(source, entry string) (int, error) {
	definition := regexp.MustCompile(`\b` + regexp.QuoteMeta(entry) + `\s*\([^;{}]*\)\s*\{`)
	place := definition.FindStringIndex(source)
	if place == nil {
		return 0, fmt.Errorf("no definition of %s that could be slowed", entry)
	}
	return place[1], nil
}

func guard(nanoseconds float64) string {
	return fmt.Sprintf(`static __device__ __forceinline__ unsigned long long pawl_now() {
    unsigned long long now;
    asm volatile("mov.u64 %%0, %%%%globaltimer;" : "=l"(now));
    return now;
}
struct pawl_stay {
    unsigned long long begin;
    __device__ __forceinline__ pawl_stay() : begin(pawl_now()) {}
    __device__ __forceinline__ ~pawl_stay() {
        if (blockIdx.x + blockIdx.y + blockIdx.z == 0)
            while (pawl_now() - begin < %.0fULL)
                ;
    }
};
`, nanoseconds)
}
