package process

import (
	"slices"
	"strings"
)

// What kernels and the libraries under them have a use for, and no secrets.
var (
	inheritedNames = []string{
		"PATH", "HOME", "TMPDIR", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
		"GLIBC_TUNABLES", "GORACE", "GODEBUG", "GOMAXPROCS", "GOTRACEBACK",
	}
	inheritedPrefixes = []string{"LC_", "CUDA_", "NVIDIA_", "NVCC_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_",
		"MALLOC_"}
)

// Environment returns the part of an environment that a process with kernels gets.
func Environment(environment []string) []string {
	var kept []string
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(inheritedNames, name) ||
			slices.ContainsFunc(inheritedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			kept = append(kept, entry)
		}
	}
	return kept
}
