package nvcc

import (
	"fmt"
	"regexp"
	"strings"
)

// Architecture returns the name that compilers have for a compute capability:
// sm_90 for 9, 0. The suffix is empty for code that later devices of the same
// major version run as well, "a" for all that exactly this one can do (wgmma,
// TMA with multicast), "f" for what its family can do.
func Architecture(major, minor int, suffix string) string {
	return fmt.Sprintf("sm_%d%d%s", major, minor, suffix)
}

// An architecture anywhere in a flag: -arch=sm_90a, code=[sm_90a,compute_90a].
var namedArchitecture = regexp.MustCompile(`(?:sm|compute)_(\d+[af]?)\b`)

// A flag that chooses one, with its value where that does not follow as the next argument.
var architectureFlag = regexp.MustCompile(
	`(?s)^(?:--gpu-architecture|--gpu-code|--generate-code|-arch|-code|-gencode)(?:=(.*))?$`)

// Named takes the flags that choose an architecture out of a kernel's flags, and
// returns the last that they name, such as sm_90a. Which one code is made for is the
// device's to decide: only the suffix says that other devices cannot run the kernel.
func Named(flags []string) (architecture string, rest []string) {
	for i := 0; i < len(flags); i++ {
		flag := architectureFlag.FindStringSubmatch(flags[i])
		if flag == nil {
			rest = append(rest, flags[i])
			continue
		}
		value := flag[1]
		if i+1 < len(flags) && !strings.Contains(flags[i], "=") {
			i++
			value = flags[i]
		}
		for _, match := range namedArchitecture.FindAllStringSubmatch(value, -1) {
			architecture = "sm_" + match[1]
		}
	}
	return architecture, rest
}

// ArchitectureFlag asks nvcc for code of exactly one architecture. The shorter
// -arch=sm_90a compiles for sm_90 as well, which knows none of the instructions that
// the suffix is for.
func ArchitectureFlag(architecture string) string {
	return "-gencode=arch=" + virtual(architecture) + ",code=" + architecture
}

// virtual returns the architecture that PTX is made for: compute_90a for sm_90a.
func virtual(architecture string) string {
	return "compute_" + strings.TrimPrefix(architecture, "sm_")
}
