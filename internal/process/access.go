package process

import "slices"

// Access is which files a program, and all that it starts, may read and change. What it does not name is out of reach,
// and so are other programs: their memory, their environment, signals to them, and their abstract sockets.
// Only Linux enforces it, and only where it has Landlock: see Restricts.
type Access struct {
	// Read are files and folders that it may read, and run. Write are those that it may change as well. What does
	// not exist is left out.
	Read, Write []string
	// Devices lets it use the devices of the machine that compute, and TCP.
	Devices bool
}

// Reading returns an access that has further files to read; nil where a is, which may read all.
func (a *Access) Reading(more ...string) *Access {
	if a == nil {
		return nil
	}
	return &Access{slices.Concat(a.Read, more), a.Write, a.Devices}
}

// Writing returns an access that has further files to change; nil where a is.
func (a *Access) Writing(more ...string) *Access {
	if a == nil {
		return nil
	}
	return &Access{a.Read, slices.Concat(a.Write, more), a.Devices}
}

// Everything is what a program may read whose sources and libraries may lie anywhere, such as a compiler.
const Everything = "/"

// Libraries are where systems keep what a program loads, and what their libraries look at: nothing of it tells
// programs apart, or belongs to a person.
var Libraries = []string{
	"/usr", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/gnu/store",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/localtime",
	"/etc/alternatives", "/etc/gcrypt", "/etc/malloc.conf",
	"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm", "/proc/filesystems",
	"/sys/devices/system", "/sys/kernel/mm/transparent_hugepage", "/sys/fs/cgroup",
}
