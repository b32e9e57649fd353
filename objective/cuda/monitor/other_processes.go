package monitor

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"pawl/internal/page"
)

// Process is a process that computes on a GPU.
type Process struct {
	PID    int    `json:"pid"`
	Name   string `json:"name,omitempty"` // empty where it cannot be seen
	Memory uint64 `json:"memory"`         // bytes; 0: the GPU does not report it
	// Busy is the share of the last seconds in which it computed, in per cent; nil where the GPU does not report it.
	Busy *int `json:"busy,omitempty"`
}

func (p Process) String() string {
	text := fmt.Sprintf("process %d", p.PID)
	if p.Name != "" {
		text = fmt.Sprintf("%s (process %d)", p.Name, p.PID)
	}
	if p.Memory > 0 {
		text += " with " + page.Bytes(float64(p.Memory))
	}
	if p.Busy != nil {
		text += fmt.Sprintf(", computing %d %% of the time", *p.Busy)
	}
	return text
}

// busyTime is the window over which the use by others is read.
const busyTime = 2 * time.Second

// Others returns the processes that compute on the GPU and belong to
// others: neither to this process nor to others that its parent has started. A
// container may see numbers that are not its own; then this process is not among
// them, and nothing is known.
func (m *Monitor) Others() ([]Process, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.library == nil {
		return nil, errClosed
	}
	all, err := m.device.processes()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(all, func(p Process) bool { return p.PID == os.Getpid() }) {
		return nil, nil
	}
	others := slices.DeleteFunc(all, func(p Process) bool {
		return p.PID == os.Getpid() || p.PID == os.Getppid() || parentOf(p.PID) == os.Getppid()
	})
	if len(others) == 0 {
		return nil, nil
	}
	busy, err := m.device.busy(uint64(time.Now().Add(-busyTime).UnixMicro()))
	for i := range others {
		others[i].Name = nameOf(others[i].PID)
		if share := busy[others[i].PID]; err == nil {
			others[i].Busy = &share
		}
	}
	return others, nil
}

func nameOf(pid int) string {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return string(bytes.TrimSpace(name))
}

// parentOf returns the process that has started another, or 0.
func parentOf(pid int) int {
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := bytes.Fields(content[bytes.LastIndexByte(content, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}
