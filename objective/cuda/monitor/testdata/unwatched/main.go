// Command unwatched says why the GPU of this machine cannot be watched, if so.
package main

import (
	"errors"
	"fmt"
	"os"

	"pawl/objective/cuda/monitor"
)

func main() {
	_, err := monitor.Devices()
	if err != nil && !errors.Is(err, monitor.ErrUnavailable) {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("main has run:", err)
}
