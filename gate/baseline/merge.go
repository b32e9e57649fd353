package baseline

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"pawl/internal/collect"
)

// Merge joins two files that came from base, and says what it had to choose between. An
// entry that one side alone has moved is that side's. Where both have, the better one
// stays, or the later one where their sizes differ, and the trail of acceptances keeps
// both. One that a side has removed is gone, unless the other has moved it.
func Merge(base, ours, theirs *File) (merged *File, chosen []string) {
	merged = New()
	for _, e := range slices.Concat(base.Entries, ours.Entries, theirs.Entries) {
		if merged.of(e.Key) != nil {
			continue
		}
		was, our, their := base.of(e.Key), ours.of(e.Key), theirs.of(e.Key)
		removed := func(by, other *Baseline) bool {
			return was != nil && by == nil && (other == nil || same(other, was))
		}
		var sides []*Baseline // the first stays
		switch {
		case removed(our, their), removed(their, our):
			continue
		case their == nil, same(our, their), our != nil && same(their, was):
			sides = []*Baseline{our}
		case our == nil, same(our, was):
			sides = []*Baseline{their}
		default:
			sides = []*Baseline{our, their}
			name := "ours"
			if their.beats(our.Entry) {
				sides, name = []*Baseline{their, our}, "theirs"
			}
			chosen = append(chosen,
				fmt.Sprintf("%s: both sides moved it, ours to %s, theirs to %s: %s stays", e.Key,
					e.Objective.Text(our.Median), e.Objective.Text(their.Median), name))
		}
		stays := *sides[0]
		stays.Best = bestOf(stays.Entry, sides)
		stays.Accepted = trail(our, their)
		merged.put(stays)
	}
	return merged, chosen
}

// same reports whether two baselines have the same entries, whatever people have decided about them.
func same(a, b *Baseline) bool {
	if a == nil || b == nil {
		return a == b
	}
	return reflect.DeepEqual(Baseline{Entry: a.Entry, Best: a.Best, Provisional: a.Provisional},
		Baseline{Entry: b.Entry, Best: b.Best, Provisional: b.Provisional})
}

func (e Entry) beats(other Entry) bool {
	if e.Dims != other.Dims {
		return e.Measured.After(other.Measured)
	}
	return e.better(other)
}

// bestOf is the best accepted entry of some sides; nil where none is better than the entry that stays.
func bestOf(stays Entry, sides []*Baseline) (best *Entry) {
	for _, side := range sides {
		if side.Best != nil && side.Best.better(*cmp.Or(best, &stays)) {
			best = side.Best
		}
	}
	return best
}

// trail joins what people have decided on two sides, in the order of time.
func trail(sides ...*Baseline) (all []Acceptance) {
	for _, side := range sides {
		if side == nil {
			continue
		}
		all = collect.Distinct(append(all, side.Accepted...))
	}
	slices.SortStableFunc(all, func(a, b Acceptance) int { return a.Time.Compare(b.Time) })
	return all
}

// Branch is the one of origin that keeps baseline and history, in commits of their own: main's rules may let
// no job push there.
const Branch = "pawl-baselines"

// Follow moves a file as people have decided by another one, where the events are.
func (f *File) Follow(decided *File, events []Event) {
	for _, e := range events {
		if e.Verdict == Removed {
			f.Remove(func(entry Entry) bool { return entry.Kernel == e.Kernel })
			continue
		}
		b := decided.of(e.Key)
		if b == nil {
			continue
		}
		for _, a := range b.Accepted {
			if a.Time.Equal(e.Time) {
				f.Accept(b.Entry, a)
			}
		}
	}
}
