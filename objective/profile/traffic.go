package profile

import (
	"fmt"

	"pawl/internal/page"
)

// sectorBytes is how many bytes a sector has, the unit in which caches and memory are asked.
const sectorBytes = 32

// level is a part of the memory: how busy it is, and which shares of what it does are local memory,
// and sectors of global memory that hold nothing that anybody uses.
type level struct {
	name, busy  string
	local, vain float64
}

// levels say who makes the traffic of L1, of L2 and of the memory, in this order; nil where that
// was not counted. What an instruction asks for in vain costs L1 in any case; a later instruction
// may find it there, and then L2 has not been asked twice. Memory is worse off than L2, which
// fetches sectors in pairs: one of the two may be of no use to anybody.
func (f Facts) levels() []level {
	sectors, ideal, local := f.get(sectorsGlobal), f.get(sectorsIdeal), f.get(sectorsLocal)
	if !f.has(sectorsGlobal, sectorsIdeal) || sectors+local <= 0 {
		return nil
	}
	excess := max(0, sectors-ideal)
	l1 := level{"L1", l1Busy, local / (sectors + local), excess / (sectors + local)}
	l2, memory := level{"L2", l2Busy, l1.local, l1.vain}, level{"memory", memoryBusy, l1.local, l1.vain}
	if asked := f.get(sectorsAsked); asked > 0 {
		reached := min(max(0, asked-sectors), local)
		vain := min(max(0, asked-reached-ideal), excess)
		pairs := f.unasked()
		l2.local, l2.vain = reached/(asked+pairs), (vain+pairs)/(asked+pairs)
		memory.local, memory.vain = reached/asked, vain/asked
		if moved, there := f.traffic(); there && pairs > 0 && moved > 0 {
			share := min(1, sectorBytes*pairs/moved)
			memory.local, memory.vain = memory.local*(1-share), share+memory.vain*(1-share)
		}
	}
	return []level{l1, l2, memory}
}

// unasked is how many sectors L2 fetches from memory although no load has asked for them.
func (f Facts) unasked() float64 {
	if !f.has(sectorsRead) {
		return 0
	}
	return max(0, f.get(sectorsFetched)-f.get(sectorsRead))
}

// costliest returns the level at which a share of the traffic costs most, and the share of the
// time that is gone at most without it: what is left at the other levels takes as long as before.
func (f Facts) costliest(share func(level) float64) (at level, lost float64) {
	left := 0.0
	for i, l := range f.levels() {
		if saved := f.saved(share(l), l.busy); i == 0 || saved > lost {
			at, lost = l, saved
		}
		left = max(left, f.share(l.busy)*(1-share(l)))
	}
	return at, min(lost, 1-left)
}

// nearly is how busy a part is, compared with the busiest, that may be the limit as well: of a
// cache and the memory behind it, each waits for the other.
const nearly = 0.8

// saved is the share of the time that is gone at most without a share of what a part of the device
// does. A part that is the limit sets the time, all of it, and nothing is gained at the others. Where
// none is, no more is gone than the time in which it is busy. The arithmetic and what else is done
// takes as long as before.
func (f Facts) saved(share float64, part string, rest ...string) float64 {
	busy := f.share(part)
	if top := f.most(smBusy, memoryBusy, l2Busy, l1Busy); top >= busyEnough {
		if busy < nearly*top {
			return 0
		}
		busy = 1
	}
	return max(0, min(share*busy, 1-f.most(append(rest, fmaBusy, tensorBusy)...)))
}

// localArrays says that most of the local memory is no spill of the compiler's.
func (f Facts) localArrays() bool {
	return f.has(spilled) && f.get(spilled) < (f.get(localLoads)+f.get(localStores))/2
}

// localMemory is what local memory costs, if it is there for the reason that a rule is about.
func (f Facts) localMemory(mine bool) (float64, string, bool) {
	at, lost := f.costliest(func(l level) float64 { return l.local })
	return lost, fmt.Sprintf("%s of the traffic to %s is local memory", page.WholePercent(at.local), at.name),
		mine && f.get(sectorsLocal) > 0
}
