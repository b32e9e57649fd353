//go:build linux && (!nvml || !cgo)

package monitor

import (
	"testing"
	"unsafe"
)

// The sizes are those of nvml.h on 64-bit Linux.
func TestLayout(t *testing.T) {
	for name, pair := range map[string][2]uintptr{
		"process":                 {unsafe.Sizeof(processInformation{}), 24},
		"process, memory":         {unsafe.Offsetof(processInformation{}.memory), 8},
		"temperature":             {unsafe.Sizeof(temperatureInformation{}), 12},
		"temperature, celsius":    {unsafe.Offsetof(temperatureInformation{}.celsius), 8},
		"the handle is a pointer": {unsafe.Sizeof(dynamicDevice{}.handle), 8},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %d, not %d", name, pair[0], pair[1])
		}
	}
}
