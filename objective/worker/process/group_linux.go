package process

import (
	"path/filepath"
	"strconv"
	"time"
)

// The fields of /proc/PID/stat that count here, by their place behind the name, and how many
// ticks a second has there on every architecture.
const (
	groupField     = 2
	firstTimeField = 11 // of four: user and system time, its own and that of children that have ended
	lastTimeField  = 14
	ticks          = 100
)

// GroupTime is the processor time that the processes of a group have used so far, and whether
// the system says so.
func GroupTime(group int) (used time.Duration, known bool) {
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		fields := stat(path)
		if len(fields) <= lastTimeField || string(fields[groupField]) != strconv.Itoa(group) {
			continue
		}
		for _, field := range fields[firstTimeField : lastTimeField+1] {
			count, _ := strconv.ParseInt(string(field), 10, 64)
			used += time.Duration(count) * time.Second / ticks
		}
		known = true
	}
	return used, known
}
