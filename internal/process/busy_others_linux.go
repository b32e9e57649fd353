package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// readUsage reads /proc, of the cores that this process may run on.
func readUsage() (t usage, known bool) {
	var allowed unix.CPUSet
	content, err := os.ReadFile("/proc/stat")
	if err != nil || unix.SchedGetaffinity(0, &allowed) != nil {
		return t, false
	}
	for line := range strings.Lines(string(content)) {
		var core int
		fields := strings.Fields(line)
		if n, _ := fmt.Sscanf(line, "cpu%d ", &core); n == 0 || len(fields) < 6 || !allowed.IsSet(core) {
			continue
		}
		t.cores++
		for i, field := range fields[1:min(len(fields), 9)] { // those of guests are counted before
			count, _ := strconv.ParseUint(field, 10, 64)
			t.total += count
			if i != 3 && i != 4 { // idle, and waiting for a disk
				t.busy += count
			}
		}
	}
	t.programs = map[program]uint64{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		t.addProgram(file)
	}
	return t, t.cores > 0
}

// addProgram adds what a file /proc/PID/stat says.
func (t *usage) addProgram(file string) {
	process, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
	name, fields := stat(file)
	const kernelThreads = "2" // their parent
	if err != nil || process == os.Getpid() || len(fields) <= lastTimeField || fields[1] == kernelThreads {
		return
	}
	user, _ := strconv.ParseUint(fields[firstTimeField], 10, 64)
	system, _ := strconv.ParseUint(fields[firstTimeField+1], 10, 64)
	t.programs[program{process, name}] = user + system
}
