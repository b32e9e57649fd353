package search

// Turn is where a study is in a queue that it shares with others, by start-time fair queueing
// (Goyal, Vin, Cheng 1996): each task has a number, one more than the last of its study or
// that of what was served last, whichever is later, and the lowest goes first. So a study that
// asks for little does not wait behind one that asks for much, and one that was idle has no claim
// to what it missed. The zero Turn is a study that has not asked.
type Turn struct {
	asked bool
	last  int64
}

// Next gives a task its number. Served is that of what was served last, of any study.
func (t *Turn) Next(served int64) int64 {
	if t.asked && t.last >= served {
		served = t.last + 1
	}
	t.asked, t.last = true, served
	return served
}
