package simulated

import (
	"math"
	"math/rand/v2"
)

// disturbance is something that happens to a machine while it produces samples.
type disturbance struct {
	// begin is called before the first sample of each process; nil for nothing to do.
	begin func()
	// factor returns how much longer the next sample takes than on a quiet machine.
	factor func() float64
}

// disturb makes a disturbance for one machine from the machine's random source.
type disturb func(*rand.Rand) disturbance

// processLevels gives every process a level of its own that it keeps to its end, as
// the placement of memory does. Their logarithms have a standard deviation and, from one process to
// the next, a correlation; some processes, a share, are also slower by the mode.
func processLevels(deviation, correlation, share, mode float64) disturb {
	return func(random *rand.Rand) disturbance {
		level, lasting := 1.0, random.NormFloat64()
		return disturbance{
			begin: func() {
				lasting = correlation*lasting + math.Sqrt(1-correlation*correlation)*random.NormFloat64()
				level = math.Exp(deviation * lasting)
				if random.Float64() < share {
					level *= 1 + mode
				}
			},
			factor: func() float64 { return level },
		}
	}
}

// growingNoise gives every process a level of its own, which differs the more the later it
// runs: by a deviation for each hundred processes.
func growingNoise(deviation float64) disturb {
	return func(random *rand.Rand) disturbance {
		level, processes := 1.0, 0.0
		return disturbance{
			begin: func() {
				processes++
				level = math.Exp(deviation * processes / 100 * random.NormFloat64())
			},
			factor: func() float64 { return level },
		}
	}
}

// heavyTails makes a share of the samples take much longer, by a law without a second
// moment: interrupts, page faults, a garbage collector beside the process. They take
// a Pareto variable of index 1.5 times as long, at most 100: the clock of a test would
// not wait for more.
func heavyTails(share float64) disturb {
	const index, most = 1.5, 100
	return func(random *rand.Rand) disturbance {
		return disturbance{factor: func() float64 {
			if random.Float64() >= share {
				return 1
			}
			return min(most, math.Pow(1-random.Float64(), -1/index))
		}}
	}
}

// everyFewProcesses makes the machine slower and faster in waves of a height, a share:
// a timer, a fan, a job that runs regularly. The period is a number of processes
// between two, drawn by the machine, as is the phase. It is the worst that can happen
// to an order of measurements that has a rhythm of its own.
func everyFewProcesses(shortest, longest int, by float64) disturb {
	return func(random *rand.Rand) disturbance {
		period := shortest + random.IntN(longest-shortest+1)
		process := random.IntN(period)
		return disturbance{
			begin: func() { process++ },
			factor: func() float64 {
				return 1 + by*math.Sin(2*math.Pi*(float64(process)+0.25)/float64(period))
			},
		}
	}
}

// burstyNeighbor is a neighbor that comes and goes; visit and absence are mean
// lengths in samples. During a visit samples take longer by a share up to most, drawn
// for each visit. Visits are about as long as a process, so that some processes are
// hit and some are not.
func burstyNeighbor(visit, absence int, most float64) disturb {
	return func(random *rand.Rand) disturbance {
		here, level := false, 1.0
		arrive := func() { here, level = true, 1+most*random.Float64() }
		if random.IntN(visit+absence) < visit {
			arrive()
		}
		return disturbance{factor: func() float64 {
			switch {
			case here && random.IntN(visit) == 0:
				here, level = false, 1
			case !here && random.IntN(absence) == 0:
				arrive()
			}
			return level
		}}
	}
}
