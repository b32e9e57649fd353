package profile

import (
	"math"
	"slices"

	"pawl/objective"
)

// Facts are what is known about one launch of a point.
type Facts struct {
	// Metrics are a profiler's counters; nil where none has looked.
	Metrics Metrics `json:"metrics,omitempty"`
	// Resources is what the compiler says; nil on the processor.
	Resources *objective.Resources `json:"resources,omitempty"`
	// Milliseconds is the time of a launch, measured without a profiler; 0 where it was not.
	Milliseconds float64 `json:"milliseconds,omitempty"`
	// Flops and Bytes are of one launch by the manifest's formulas; 0 where it has none.
	Flops float64 `json:"flops,omitempty"`
	Bytes float64 `json:"bytes,omitempty"`
	// Product says that, by the manifest, the launch multiplies matrices.
	Product bool `json:"product,omitempty"`
	// Roofline is the best that the device can do; unknown of a processor.
	Roofline objective.Roofline `json:"roofline,omitzero"`
}

// The counters that are looked at, by the names of Nsight Compute.
const (
	duration       = "gpu__time_duration.sum"
	smBusy         = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
	memoryBusy     = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
	l2Busy         = "lts__throughput.avg.pct_of_peak_sustained_elapsed"
	l1Busy         = "l1tex__throughput.avg.pct_of_peak_sustained_elapsed"
	wavefrontsBusy = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
	tensorBusy     = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
	fmaBusy        = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"
	issueBusy      = "smsp__issue_active.avg.pct_of_peak_sustained_active"
	warpsActive    = "sm__warps_active.avg.per_cycle_active"
	occupancyShare = "sm__warps_active.avg.pct_of_peak_sustained_active"
	occupancyMost  = "sm__maximum_warps_per_active_cycle_pct"
	cyclesMean     = "sm__cycles_active.avg"
	cyclesMost     = "sm__cycles_active.max"
	waves          = "launch__waves_per_multiprocessor"
	gridSize       = "launch__grid_size"
	smCount        = "device__attribute_multiprocessor_count"
	clock          = "gpc__cycles_elapsed.avg.per_second"
	clockMost      = "device__attribute_clock_rate" // kHz
	bytesRead      = "dram__bytes_read.sum"
	bytesWritten   = "dram__bytes_write.sum"
	sectorsGlobal  = "memory_l2_theoretical_sectors_global"
	sectorsIdeal   = "memory_l2_theoretical_sectors_global_ideal"
	sectorsLocal   = "memory_l2_theoretical_sectors_local"
	sectorsAsked   = "lts__t_sectors_srcunit_tex.sum"         // of L2, by L1
	sectorsRead    = "lts__t_sectors_srcunit_tex_op_read.sum" // the loads among them
	sectorsFetched = "dram__sectors_read.sum"
	sharedPasses   = "memory_l1_wavefronts_shared"
	sharedIdeal    = "memory_l1_wavefronts_shared_ideal"
	threadsPerInst = "smsp__thread_inst_executed_per_inst_executed.ratio"
	l1Hits         = "l1tex__t_sector_hit_rate.pct"
	l2Hits         = "lts__t_sector_hit_rate.pct"
	instructions   = "smsp__inst_executed.sum"
	bytesPerSector = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"
	registers      = "launch__registers_per_thread"
	sharedPerBlock = "launch__shared_mem_per_block"
	blockSize      = "launch__block_size"

	atomicMean   = "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed" // of a slice of L2
	atomicMost   = "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed" // of the busiest slice
	atomicPasses = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"
	atomicShared = "smsp__inst_executed_op_shared_atom.sum"
	spilled      = "sass__inst_executed_register_spilling"
	localLoads   = "sass__inst_executed_local_loads"
	localStores  = "sass__inst_executed_local_stores"

	aluBusy      = "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"
	doubleBusy   = "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"
	specialBusy  = "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"
	constantBusy = "idc__request_cycles_active.avg.pct_of_peak_sustained_elapsed"
	doublePeak   = "sm__sass_thread_inst_executed_op_dfma_pred_on.avg.peak_sustained"
	floatPeak    = "sm__sass_thread_inst_executed_op_ffma_pred_on.avg.peak_sustained"
	// No set of Nsight Compute has these: see under.
	specials    = "sm__inst_executed_pipe_xu.sum"
	conversions = "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum"
	integers    = "smsp__sass_thread_inst_executed_op_integer_pred_on.sum"
	doubles     = "smsp__sass_thread_inst_executed_op_fp64_pred_on.sum"
)

// has reports whether all of some counters are known.
func (f Facts) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, there := f.Metrics[name]; return !there })
}

// get returns a counter, 0 where it is unknown.
func (f Facts) get(name string) float64 { return f.Metrics[name] }

// share returns a counter in per cent as a share, at most 1; 0 where it is unknown.
func (f Facts) share(name string) float64 { return min(f.get(name)/100, 1) }

// most is the largest of several shares; 0 where none is known.
func (f Facts) most(names ...string) float64 {
	largest := 0.0
	for _, name := range names {
		largest = max(largest, f.share(name))
	}
	return largest
}

// busiest is how busy the busiest part of the device is while multiprocessors have work: those
// that are idle for an uneven load do not wait for anything.
func (f Facts) busiest() float64 {
	idle, _ := f.uneven()
	return min(1, f.most(smBusy, memoryBusy, l2Busy, l1Busy)/(1-min(idle, 0.99)))
}

// seconds is the time of the launch: as measured, else under the profiler; 0 where unknown.
func (f Facts) seconds() float64 {
	if f.Milliseconds > 0 {
		return f.Milliseconds / 1e3
	}
	return f.get(duration)
}

// onGPU says that the launch was one of a GPU: a function call on a processor costs nothing.
func (f Facts) onGPU() bool {
	return f.has(duration) || f.Resources != nil
}

// traffic is how many bytes went to and from the device's memory.
func (f Facts) traffic() (float64, bool) {
	return f.get(bytesRead) + f.get(bytesWritten), f.has(bytesRead, bytesWritten)
}

// wavesOf returns how many times the grid fills the device.
func (f Facts) wavesOf() (float64, bool) {
	if f.has(waves) {
		return f.get(waves), true
	}
	if f.Resources != nil && f.Resources.Occupancy != nil && f.Resources.Occupancy.Waves > 0 {
		return f.Resources.Occupancy.Waves, true
	}
	return 0, false
}

// tail is the share of the time in which part of the device waits for the last wave, if all blocks take equally long.
func (f Facts) tail() (float64, bool) {
	n, there := f.wavesOf()
	if !there || n <= 0 {
		return 0, false
	}
	// Waves are printed to two decimals, and 2.004 is two and a little more: a whole number that
	// the digits hide would be a wave of its own.
	if whole := math.Round(n); whole > 0 && math.Abs(n-whole) < 0.005 {
		return 0, true
	}
	return 1 - n/math.Ceil(n), true
}

// uneven is the share of the time in which multiprocessors are idle on average.
func (f Facts) uneven() (float64, bool) {
	most := f.get(cyclesMost)
	if !f.has(cyclesMean) || most <= 0 {
		return 0, false
	}
	return max(0, 1-f.get(cyclesMean)/most), true
}

// floor is the shortest time of the launch that the device allows, in milliseconds, and what allows no
// shorter: compute or memory. Both are empty where that is unknown.
func (f Facts) floor() (milliseconds float64, bound string) {
	r := f.Roofline.Comparable()
	if r.Flops > 0 && f.Flops > 0 {
		milliseconds, bound = 1e3*f.Flops/r.Flops, Compute
	}
	if memory := 1e3 * f.Bytes / r.Bytes; r.Bytes > 0 && f.Bytes > 0 && memory >= milliseconds {
		milliseconds, bound = memory, Memory
	}
	return milliseconds, bound
}

// RooflineShare is the share of the time that the roofline asks for; 0 where it is unknown.
func (f Facts) RooflineShare() (share float64, bound string) {
	if f.seconds() <= 0 {
		return 0, ""
	}
	floor, bound := f.floor()
	return floor / (1e3 * f.seconds()), bound
}
