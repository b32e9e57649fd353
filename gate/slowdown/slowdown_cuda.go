package slowdown

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"pawl/kernels"
)

// Calibration is what is known about a CUDA kernel's time. A block that spins
// leaves its multiprocessor to the others, so a share of each block's time would
// not be a share of the kernel's. Instead the first block alone stays for as many
// cycles as the whole kernel is to take. They are cycles and not nanoseconds
// because the GPU's clock follows its power and its temperature: the kernel and its
// slowed copy must follow it alike.
type Calibration struct {
	// Cycles is a stay that was tried, and Ratio the time that the kernel then
	// took, in multiples of its own.
	Cycles, Ratio float64
}

// Begin is a guess from the kernel's own time, in milliseconds: two cycles a
// nanosecond, which is more than GPUs have, so that the first try stays too long
// rather than not at all.
func Begin(kernel float64) Calibration { return Calibration{Cycles: 2e6 * kernel, Ratio: 1} }

// Learn returns the calibration by a copy that was written with this one and slowed
// by a share: it took ratio times the kernel's time.
func (c Calibration) Learn(share, ratio float64) Calibration {
	return Calibration{Cycles: c.stay(share), Ratio: ratio}
}

// stay is how many cycles the first block stays. They are in proportion to the
// time, but for the launch itself, so that what was tried should be near.
func (c Calibration) stay(share float64) float64 {
	if share == 0 {
		return 0
	}
	return c.Cycles * (1 + share) / c.Ratio
}

// writeCUDA puts a guard into the entry function whose end, on whatever way out,
// keeps the first block waiting.
func writeCUDA(k *kernels.Kernel, folder string, share float64, calibration Calibration) error {
	path := filepath.Join(folder, k.Source)
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	body, err := bodyOf(string(source), k.Entry)
	if err != nil {
		return fmt.Errorf("%s: %w", k.Source, err)
	}
	slowed := guard(calibration.stay(share)) + string(source[:body]) + "\n    pawl_stay pawl_guard;" +
		string(source[body:])
	return os.WriteFile(path, []byte(slowed), 0o644)
}

// bodyOf returns the index behind the opening brace of a function's definition.
func bodyOf(source, entry string) (int, error) {
	place := regexp.MustCompile(`\b` + regexp.QuoteMeta(entry) + `\s*\([^;{}]*\)\s*\{`).FindStringIndex(source)
	if place == nil {
		return 0, fmt.Errorf("no definition of %s that could be slowed", entry)
	}
	return place[1], nil
}

func guard(cycles float64) string {
	return fmt.Sprintf(`struct pawl_stay {
    long long begin;
    __device__ __forceinline__ pawl_stay() : begin(clock64()) {}
    __device__ __forceinline__ ~pawl_stay() {
        if (blockIdx.x + blockIdx.y + blockIdx.z == 0)
            while (clock64() - begin < %.0fLL)
                ;
    }
};
`, cycles)
}
