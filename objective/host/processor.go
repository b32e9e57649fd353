package host

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"pawl/internal/process"
	"pawl/objective/cache"
)

// Processor names the machine's processor well enough to tell two apart.
func Processor() string {
	if model := field(cpuInfo(), "model name"); model != "" {
		return model
	}
	if implementer := field(cpuInfo(), "CPU implementer"); implementer != "" {
		return runtime.GOARCH + " " + implementer + " " + field(cpuInfo(), "CPU part")
	}
	if brand, err := process.LastLine(context.Background(), "sysctl", "-n", "machdep.cpu.brand_string"); err == nil {
		return brand
	}
	return runtime.GOARCH
}

// instructions returns what the processor can do, as far as the system says:
// two machines with one name may differ in it, and -march=native with them.
func instructions() string { return field(cpuInfo(), "flags") + field(cpuInfo(), "Features") }

// Architecture names what machine code for this processor needs: two machines with the same
// one can run what either compiles.
func Architecture() string {
	return Processor() + " " + cache.Digest([]byte(instructions()))[:8]
}

// cpuInfo is empty where the system has none.
var cpuInfo = sync.OnceValue(func() string {
	content, _ := os.ReadFile("/proc/cpuinfo")
	return string(content)
})

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
	content, _ := os.ReadFile("/proc/meminfo")
	number, _, _ := strings.Cut(field(string(content), "MemAvailable"), " ")
	kilobytes, _ := strconv.ParseInt(number, 10, 64) // 0 with an error
	return int64(memoryShare * 1024 * float64(kilobytes))
}
