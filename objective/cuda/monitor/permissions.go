package monitor

import (
	"os"
	"strconv"
	"strings"
)

const (
	driverParameters = "/proc/driver/nvidia/params"
	processStatus    = "/proc/self/status"
)

// Permission says whether something is allowed here, and why.
type Permission struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason"`
}

// CountersHere says whether this process may read performance counters.
func CountersHere() Permission {
	parameters, err := os.ReadFile(driverParameters)
	if err != nil {
		return Permission{Reason: "no NVIDIA driver is loaded here (" + driverParameters + " cannot be read)"}
	}
	return Counters(string(parameters), administratorHere())
}

// Counters says whether performance counters may be read, from the text of the
// driver's parameters and whether the process has CAP_SYS_ADMIN.
func Counters(parameters string, administrator bool) Permission {
	value, found := parameter(parameters, "RmProfilingAdminOnly")
	switch {
	case found && value == "0":
		return Permission{Allowed: true, Reason: "the driver lets every user read performance counters"}
	case administrator:
		return Permission{Allowed: true, Reason: "this process is an administrator (CAP_SYS_ADMIN)"}
	case !found:
		return Permission{Reason: "the driver does not say who may read performance counters; run as root with " +
			"CAP_SYS_ADMIN to be sure"}
	}
	return Permission{Reason: "only administrators may read performance counters; load the driver with " +
		"NVreg_RestrictProfilingToAdminUsers=0, or run as root (a container needs CAP_SYS_ADMIN)"}
}

// clockLocking forecasts whether locking clocks would be allowed, without
// trying. The library's own query for restrictions speaks of applications
// clocks only; locking always needs an administrator, and root in a container
// is none without the capability.
func clockLocking(administrator bool) Permission {
	if administrator {
		return Permission{Allowed: true, Reason: "this process is an administrator (CAP_SYS_ADMIN)"}
	}
	return Permission{Reason: "locking clocks needs root (a container needs CAP_SYS_ADMIN)"}
}

// administratorHere is false where the process's capabilities cannot be read.
func administratorHere() bool {
	status, err := os.ReadFile(processStatus)
	return err == nil && administrator(string(status))
}

// administrator looks for CAP_SYS_ADMIN, bit 21 of the effective capabilities,
// which is what the driver asks the kernel for.
func administrator(status string) bool {
	value, found := parameter(status, "CapEff")
	if !found {
		return false
	}
	capabilities, err := strconv.ParseUint(value, 16, 64)
	return err == nil && capabilities&(1<<21) != 0
}

// parameter returns the value of a line "name: value".
func parameter(text, name string) (string, bool) {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}
