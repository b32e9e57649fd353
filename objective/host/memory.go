package host

import (
	"os"
	"strconv"
	"strings"
)

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
