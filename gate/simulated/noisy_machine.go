// Package simulated tests the gate on simulated machines that have the faults of real
// ones, each known exactly: how often does it raise a false alarm, how often is it
// inconclusive, and does it still find a real slowdown?
//
//  1. A Fault describes a kind of machine; newMachine builds one from a seed.
//  2. The machine produces samples as a stream in time: what one process leaves
//     behind, the next one finds.
//  3. Run compares many pairs on many machines, interleaved, and counts the verdicts.
//
// Seeds fix everything: the table is the same on every machine.
package simulated

import (
	"math"
	"math/rand/v2"
)

// Fault is a kind of machine.
type Fault struct {
	Name string
	// Noise is the standard deviation of independent noise, a share of the time.
	Noise float64
	// Wander is the standard deviation of noise whose correlation from one sample to the next is 0.9.
	Wander float64
	// Step says that the machine becomes 7 to 40 % faster or slower once, at a
	// random moment in the middle half of the run.
	Step bool
	// Tick is the resolution of the clock, a share of the time; 0 is exact.
	Tick float64
	// Outliers is how many first samples of each process take 1.5 to 3 times as long.
	Outliers int
	// Mode is how much slower the second of two modes is; 0 for one mode. The
	// machine changes between them at random, after 15 samples on average.
	Mode float64
	// Also is one more disturbance; nil for none.
	Also disturb
	// Trend is by how much each process of a round is slower than the one before it.
	Trend float64
	// Milliseconds is how long the kernel takes on a quiet machine; 0 means 1.
	Milliseconds float64
}

// Faults are the machines of the table.
var Faults = []Fault{
	{Name: "steady", Noise: 0.01},
	{Name: "autocorrelation 0.9", Wander: 0.05},
	{Name: "step of 7 to 40 %", Noise: 0.01, Step: true},
	{Name: "coarse ticks", Noise: 0.01, Tick: 0.02},
	{Name: "outliers first", Noise: 0.01, Outliers: 3},
	{Name: "two modes", Noise: 0.01, Mode: 0.12},
	{Name: "all of these", Noise: 0.01, Wander: 0.03, Step: true, Tick: 0.02, Outliers: 3, Mode: 0.12},
	// On these machines earlier rules broke: processes that differ among themselves,
	// samples without a second moment, disturbances with a rhythm, a neighbor that
	// comes and goes, and a kernel so slow that the budget, on the machine's own clock,
	// has no room for the usual number of samples: with 20 a process the first analysis of
	// the standard policy would take nine minutes.
	{Name: "process levels of 4 %", Noise: 0.01, Also: processLevels(0.04, 0, 0, 0)},
	{Name: "process levels of 10 %", Noise: 0.01, Also: processLevels(0.10, 0, 0, 0)},
	{Name: "process modes of 12 %", Noise: 0.01, Also: processLevels(0, 0, 0.5, 0.12)},
	{Name: "process modes of 25 %", Noise: 0.01, Also: processLevels(0, 0, 0.5, 0.25)},
	{Name: "heavy tails", Noise: 0.01, Also: heavyTails(0.10)},
	{Name: "period of 6 to 12 processes", Noise: 0.01, Also: everyFewProcesses(6, 12, 0.10)},
	{Name: "bursty neighbor", Noise: 0.01, Also: burstyNeighbor(60, 120, 1)},
	{Name: "slow kernel, 0.9 s", Noise: 0.01, Milliseconds: 900},
	{Name: "3 of 10 processes slow", Noise: 0.01, Also: processLevels(0, 0, 0.3, 0.25)},
	{Name: "levels that last", Noise: 0.01, Also: processLevels(0.04, 0.8, 0, 0)},
	{Name: "noise that grows", Noise: 0.01, Also: growingNoise(0.03)},
	{Name: "trend inside a round", Noise: 0.01, Trend: 0.015},
}

type machine struct {
	fault    Fault
	source   *rand.PCG
	random   *rand.Rand
	now      int // samples so far
	stepAt   int
	stepBy   float64
	wander   float64
	slowMode bool
	also     disturbance
}

// newMachine returns a machine whose run is expected to last a number of samples.
func newMachine(f Fault, seed uint64, expected int) *machine {
	m := &machine{fault: f, source: rand.NewPCG(seed, 0x73747265616d)}
	m.random = rand.New(m.source)
	m.stepAt = expected/4 + m.random.IntN(expected/2+1)
	m.stepBy = 1 + 0.07 + 0.33*m.random.Float64()
	if m.random.IntN(2) == 0 {
		m.stepBy = 1 / m.stepBy
	}
	m.wander = m.random.NormFloat64()
	m.slowMode = m.random.IntN(2) == 0
	if f.Also != nil {
		m.also = f.Also(m.random)
	}
	return m
}

// again makes the rest of the run another one on the same machine: what it is like stays, what happens is drawn anew.
func (m *machine) again(seed uint64) { m.source.Seed(seed, 0x616761696e) }

// process returns the samples of one process that takes a time on a quiet machine, in milliseconds.
func (m *machine) process(samples int, milliseconds float64) []float64 {
	m.start()
	return m.times(samples, milliseconds)
}

// start begins a process.
func (m *machine) start() {
	if m.also.begin != nil {
		m.also.begin()
	}
}

// times returns further samples of the process, of something that takes a time on a quiet machine.
func (m *machine) times(samples int, milliseconds float64) []float64 {
	result := make([]float64, samples)
	for i := range result {
		time := milliseconds * m.level()
		if i < m.fault.Outliers {
			time *= 1.5 + 1.5*m.random.Float64()
		}
		if tick := m.fault.Tick; tick > 0 {
			time = max(1, math.Round(time/tick)) * tick
		}
		result[i] = time
	}
	return result
}

// level advances the machine by a sample and returns how slow it is.
func (m *machine) level() float64 {
	const correlation, dwell = 0.9, 15
	m.now++
	m.wander = correlation*m.wander + math.Sqrt(1-correlation*correlation)*m.random.NormFloat64()
	if m.random.IntN(dwell) == 0 {
		m.slowMode = !m.slowMode
	}
	level := math.Exp(m.fault.Noise*m.random.NormFloat64() + m.fault.Wander*m.wander)
	if m.fault.Step && m.now > m.stepAt {
		level *= m.stepBy
	}
	if m.slowMode {
		level *= 1 + m.fault.Mode
	}
	if m.also.factor != nil {
		level *= m.also.factor()
	}
	return level
}
