package nvcc

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Relocatable is the flag for code that is linked with that of other units.
const Relocatable = "-rdc=true"

// link compiles each source on its own and links them. It returns what ptxas said about every
// one, and behind it what the linker did: it has the last word on a kernel's registers and
// stack, because it knows what the kernel calls.
func link(run func(arguments ...string) (string, error), flags, sources []string,
	scratch, output string) (log string, err error) {
	var parts []string
	for i, source := range sources {
		part := filepath.Join(scratch, fmt.Sprintf("unit%d.cubin", i))
		said, err := run(slices.Concat([]string{Relocatable}, flags, []string{"-o", part, source})...)
		if err != nil {
			return "", err
		}
		log += said
		parts = append(parts, part)
	}
	said, err := run(slices.Concat([]string{"-dlink", "-Xnvlink", "-v", "-o", output}, parts)...)
	return log + said, err
}
