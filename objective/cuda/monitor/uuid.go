package monitor

import "fmt"

// UUID writes the sixteen bytes that the driver API gives as the name by which
// Open finds the GPU.
func UUID(bytes [16]byte) string {
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", bytes[:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}
