package host

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"

	"pawl/internal/process"
	"pawl/objective/cache"
)

// Processor names the machine's processor well enough to tell two apart.
func Processor() string {
	if content, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if model := field(string(content), "model name"); model != "" {
			return model
		}
		if implementer := field(string(content), "CPU implementer"); implementer != "" {
			return runtime.GOARCH + " " + implementer + " " + field(string(content), "CPU part")
		}
	}
	if brand, err := process.LastLine(context.Background(), "sysctl", "-n", "machdep.cpu.brand_string"); err == nil {
		return brand
	}
	return runtime.GOARCH
}

// instructions returns what the processor can do, as far as the system says:
// two machines with one name may differ in it, and -march=native with them.
func instructions() string {
	content, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	return field(string(content), "flags") + field(string(content), "Features")
}

// Architecture names what machine code for this processor needs: two machines with the same
// one can run what either compiles.
func Architecture() string {
	return Processor() + " " + cache.Digest([]byte(instructions()))[:8]
}

// field returns the first value of a field in the format of /proc/cpuinfo.
func field(content, name string) string {
	for line := range strings.Lines(content) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// memoryShare is the part of the memory that is free which one worker may take.
const memoryShare = 0.9

// spareMemory is how many bytes a kernel may allocate; 0 where nobody knows. A
// machine without memory ends processes as it pleases, this one among them.
func spareMemory() int64 {
	content, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	fields := strings.Fields(field(string(content), "MemAvailable"))
	if len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return int64(memoryShare * 1024 * float64(kilobytes))
}
