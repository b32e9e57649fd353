// Package process keeps a machine clean of what kernels do to processes.
//
// A kernel is code that nobody has read, and the process that runs it may fork,
// fill the disk, print secrets or leave daemons behind. So a process that runs one
//
//  1. gets little of the environment (Environment),
//  2. is started through Start, which makes this process the subreaper of whatever
//     it leaves behind, and has the system end it first where memory runs out,
//  3. limits itself before the first kernel runs (Limit),
//  4. and is ended by its group, by a token in its environment (KillMarked) and by
//     its orphans (KillOrphans).
//
// Only Linux has all of it; elsewhere a process is ended by its group.
package process

import (
	"slices"
	"strings"
	"syscall"
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

// KillGroup kills a process and its group. Errors mean that it is gone already.
func KillGroup(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}
