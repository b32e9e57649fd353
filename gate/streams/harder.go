package streams

// Harder are the machines on which earlier rules broke: processes that differ among
// themselves, samples without a second moment, disturbances with a rhythm, and a
// neighbour that comes and goes.
var Harder = []Fault{
	{Name: "process levels of 4 %", Noise: 0.01, Also: processLevels(0.04)},
	{Name: "process levels of 10 %", Noise: 0.01, Also: processLevels(0.10)},
	{Name: "process modes of 12 %", Noise: 0.01, Also: processModes(0.12)},
	{Name: "process modes of 25 %", Noise: 0.01, Also: processModes(0.25)},
	{Name: "heavy tails", Noise: 0.01, Also: heavyTails(0.10)},
	{Name: "period of 6 to 12 processes", Noise: 0.01, Also: everyFewProcesses(6, 12, 0.10)},
	{Name: "bursty neighbour", Noise: 0.01, Also: burstyNeighbour(60, 120, 1)},
	slowKernel,
}
