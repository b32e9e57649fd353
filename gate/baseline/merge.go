package baseline

import (
	"fmt"
	"reflect"
	"slices"
)

// Merge joins two files that came from base, and says what it had to choose between. An
// entry that one side alone has moved is that side's. Where both have, the better one
// stays, or the later one where their sizes differ, and the trail of acceptances keeps
// both. One that a side has removed is gone, unless the other has moved it.
func Merge(base, ours, theirs *File) (merged *File, chosen []string) {
	merged = New()
	merged.Accepted = slices.Clone(ours.Accepted)
	for _, a := range theirs.Accepted {
		if !slices.Contains(merged.Accepted, a) {
			merged.Accepted = append(merged.Accepted, a)
		}
	}
	slices.SortStableFunc(merged.Accepted, func(a, b Acceptance) int { return a.Time.Compare(b.Time) })
	for _, e := range slices.Concat(base.Entries, ours.Entries, theirs.Entries) {
		if _, done := merged.Find(e.Key); done {
			continue
		}
		was, known := base.side(e.Key)
		our, inOurs := ours.side(e.Key)
		their, inTheirs := theirs.side(e.Key)
		switch {
		case known && (!inOurs || reflect.DeepEqual(our, was)) && (!inTheirs || reflect.DeepEqual(their, was)) &&
			!(inOurs && inTheirs): // removed by one, and left alone by the other
		case !inTheirs, reflect.DeepEqual(our, their), inOurs && reflect.DeepEqual(their, was):
			merged.add(our)
		case !inOurs, reflect.DeepEqual(our, was):
			merged.add(their)
		default:
			winner, name := our, "ours"
			if their.beats(our) {
				winner, name = their, "theirs"
			}
			merged.add(winner)
			for _, other := range []side{our, their} {
				merged.consider(other)
			}
			chosen = append(chosen,
				fmt.Sprintf("%s: both sides moved it, ours to %s, theirs to %s: %s stays", e.Key,
					e.Objective.Text(our.entry.Median), e.Objective.Text(their.entry.Median), name))
		}
	}
	return merged, chosen
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
		for _, a := range decided.Accepted {
			if entry, ok := decided.Find(a.Key); ok && a.Key == e.Key && a.Time.Equal(e.Time) {
				f.Accept(entry, a)
				f.Keep(entry.Source, decided.Sources[entry.Source])
			}
		}
	}
}

// side is what a file has of a key.
type side struct {
	entry, best, gain packed // without a median where there is none beside the entry
}

func (f *File) side(key Key) (s side, ok bool) {
	s.entry.Entry, ok = f.Find(key)
	s.best.Entry, _ = f.FindBest(key)
	s.gain.Entry, _ = f.FindGain(key)
	for _, p := range []*packed{&s.entry, &s.best, &s.gain} {
		p.Archive = f.Sources[p.Source]
	}
	return s, ok
}

func (s side) beats(other side) bool {
	if s.entry.Dims != other.entry.Dims {
		return s.entry.Measured.After(other.entry.Measured)
	}
	return s.entry.better(other.entry.Entry)
}

// add takes over what a side has.
func (f *File) add(s side) {
	f.Entries = place(f.Entries, s.entry.Entry)
	f.Keep(s.entry.Source, s.entry.Archive)
	if s.gain.Median > 0 {
		f.Gains = place(f.Gains, s.gain.Entry)
		f.Keep(s.gain.Source, s.gain.Archive)
	}
	f.consider(s)
}

// consider keeps a side's best entry where it is better than what there is.
func (f *File) consider(s side) {
	now, _ := f.Find(s.entry.Key)
	if best, ok := f.FindBest(s.entry.Key); ok {
		now = best
	}
	if s.best.better(now) && s.best.Median > 0 {
		f.Best = place(f.Best, s.best.Entry)
		f.Keep(s.best.Source, s.best.Archive)
		f.forgetSources()
	}
}
