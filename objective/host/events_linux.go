package host

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// events are counters of the processor and of the system for this thread and for the threads
// that it starts from then on. It is what perf stat opens, without perf.
type events struct {
	files  map[string]int
	denied string // why some or all could not be opened; empty where all could
}

// countable are what is counted. Memory that a kernel misses costs it; so do branches.
var countable = []struct {
	name         string
	kind, config uint64
}{
	{"instructions", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
	{"cycles", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
	{"cache references", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache misses", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES},
	{"branches", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch misses", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_MISSES},
	{"processor nanoseconds", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK},
	{"page faults", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS},
}

// openEvents opens as many as the system permits, for user code: the kernel's share needs
// privileges.
func openEvents() *events {
	e := &events{files: map[string]int{}}
	for _, c := range countable {
		attributes := unix.PerfEventAttr{
			Type: uint32(c.kind), Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Config: c.config,
			Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
			Bits:        unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
		}
		file, err := unix.PerfEventOpen(&attributes, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			if e.denied == "" {
				e.denied = deniedText(c.name, err)
			}
			continue
		}
		e.files[c.name] = file
	}
	return e
}

func deniedText(name string, err error) string {
	switch err {
	case unix.EACCES, unix.EPERM:
		return fmt.Sprintf("the system does not let this user count %s: lower /proc/sys/kernel/perf_event_paranoid to 2, "+
			"or run as root (a container needs CAP_PERFMON)", name)
	case unix.ENOENT, unix.ENODEV, unix.EOPNOTSUPP:
		return fmt.Sprintf("this machine does not count %s: virtual machines often do not", name)
	case unix.ENOSYS:
		return "this system has no performance counters, or a sandbox forbids them"
	}
	return fmt.Sprintf("%s cannot be counted: %v", name, err)
}

// read returns what was counted so far. A counter that shared its place in the processor with
// others is scaled up to the whole time, as perf stat does.
func (e *events) read() map[string]float64 {
	counted := map[string]float64{}
	for name, file := range e.files {
		var buffer [24]byte
		if n, err := unix.Read(file, buffer[:]); err != nil || n != len(buffer) {
			continue
		}
		value := float64(binary.NativeEndian.Uint64(buffer[0:]))
		enabled, running := binary.NativeEndian.Uint64(buffer[8:]), binary.NativeEndian.Uint64(buffer[16:])
		if running > 0 && running < enabled {
			value *= float64(enabled) / float64(running)
		}
		if running > 0 || enabled == 0 {
			counted[name] = value
		}
	}
	return counted
}

// since is what was counted between two readings.
func since(before, after map[string]float64) map[string]float64 {
	counted := map[string]float64{}
	for name, value := range after {
		if began, there := before[name]; there && value >= began {
			counted[name] = value - began
		}
	}
	return counted
}
