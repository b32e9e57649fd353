package space

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// sample draws distinct valid rows and returns them sorted, the default among
// them.
//
// It draws parameter after parameter and starts over as soon as a constraint
// is broken. That is rejection sampling with an early exit, so every valid
// point is equally likely. Where valid points are so rare that this runs dry,
// the rest is found by descending with backtracking, which prefers points in
// sparse branches but finds them.
func (c *checker) sample(limit, branches int, rng *rand.Rand) []uint16 {
	found := rowSet{}
	found.add(c.space.defaultRow())
	row := make(Row, len(c.space.params))
	c.left = branches
	for len(found) < limit && c.left > 0 && c.err == nil {
		depth, ok := 0, true
		for ; ok && depth < len(row); depth++ {
			c.spend() // a point that was begun is finished
			row[depth] = uint16(rng.IntN(len(c.space.params[depth].Values)))
			ok = c.holds(row, depth)
		}
		if ok {
			found.add(row)
		}
		if rare := c.left < branches-branches/4 && len(found) < limit/100; rare {
			break
		}
	}
	if len(found) < min(limit, 100) {
		c.descend(found, limit, branches, rng)
	}
	return found.sorted()
}

// descend adds rows by depth-first search with the values in random order,
// starting over after each find.
func (c *checker) descend(found rowSet, limit, branches int, rng *rand.Rand) {
	c.left = branches
	row := make(Row, len(c.space.params))
	var find func(depth int) bool
	find = func(depth int) bool {
		for _, value := range rng.Perm(len(c.space.params[depth].Values)) {
			if !c.spend() {
				return false
			}
			row[depth] = uint16(value)
			if c.holds(row, depth) && (depth == len(row)-1 || find(depth+1)) {
				return true
			}
		}
		return false
	}
	for len(found) < limit && c.left > 0 && find(0) {
		found.add(row)
	}
}

// rowSet collects distinct rows, as texts, which have the rows' own order.
type rowSet map[string]bool

func (r rowSet) add(row Row) { r[row.text()] = true }

func (r rowSet) sorted() (cells []uint16) {
	for _, text := range slices.Sorted(maps.Keys(r)) {
		for at := 0; at < len(text); at += 2 {
			cells = append(cells, uint16(text[at])<<8|uint16(text[at+1]))
		}
	}
	return cells
}
