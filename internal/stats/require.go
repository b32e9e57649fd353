package stats

import (
	"fmt"
	"math"
)

// require panics unless samples holds at least one value and only finite ones.
func require(operation string, samples []float64) {
	if len(samples) == 0 {
		panic(fmt.Sprintf("stats: %s of no samples", operation))
	}
	for i, sample := range samples {
		if math.IsNaN(sample) || math.IsInf(sample, 0) {
			panic(fmt.Sprintf("stats: %s of sample %d, which is %v", operation, i, sample))
		}
	}
}

// requirePositive is require for operations that divide by a timing or take its logarithm.
func requirePositive(operation string, samples []float64) {
	require(operation, samples)
	for i, sample := range samples {
		if sample <= 0 {
			panic(fmt.Sprintf("stats: %s of sample %d, which is %v and no timing", operation, i, sample))
		}
	}
}

// requireProcesses is requirePositive for each process, of which there must be one.
func requireProcesses(operation string, processes [][]float64) {
	if len(processes) == 0 {
		panic(fmt.Sprintf("stats: %s of no processes", operation))
	}
	for _, samples := range processes {
		requirePositive(operation, samples)
	}
}
