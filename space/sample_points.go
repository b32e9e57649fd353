package space

import (
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
func (c *checker) sample(limit, branches int, rng *rand.Rand) ([]uint16, error) {
	found := newRowSet(c.space)
	found.add(c.space.defaultRow())
	row := make(Row, len(c.space.params))
	c.left = branches
	for found.len() < limit && c.left > 0 {
		depth, ok := 0, true
		for ; ok && depth < len(row); depth++ {
			if _, err := c.spend(); err != nil {
				return nil, err
			}
			row[depth] = uint16(rng.IntN(len(c.space.params[depth].Values)))
			var err error
			if ok, err = c.holds(row, depth); err != nil {
				return nil, err
			}
		}
		if ok {
			found.add(row)
		}
		if rare := c.left < branches-branches/4 && found.len() < limit/100; rare {
			break
		}
	}
	if found.len() < min(limit, 100) {
		if err := c.descend(found, limit, branches, rng); err != nil {
			return nil, err
		}
	}
	return found.sorted(), nil
}

// descend adds rows by depth-first search with the values in random order,
// starting over after each find.
func (c *checker) descend(found *rowSet, limit, branches int, rng *rand.Rand) error {
	c.left = branches
	row := make(Row, len(c.space.params))
	var find func(depth int) (bool, error)
	find = func(depth int) (bool, error) {
		for _, value := range rng.Perm(len(c.space.params[depth].Values)) {
			if ok, err := c.spend(); !ok {
				return false, err
			}
			row[depth] = uint16(value)
			ok, err := c.holds(row, depth)
			if err != nil {
				return false, err
			}
			if !ok {
				continue
			}
			if depth == len(row)-1 {
				return true, nil
			}
			if done, err := find(depth + 1); done || err != nil {
				return done, err
			}
		}
		return false, nil
	}
	for found.len() < limit && c.left > 0 {
		ok, err := find(0)
		if err != nil || !ok {
			return err
		}
		found.add(row)
	}
	return nil
}

// rowSet collects distinct rows.
type rowSet struct {
	width int
	seen  map[string]struct{}
	cells []uint16
}

func newRowSet(s *Space) *rowSet {
	return &rowSet{width: len(s.params), seen: map[string]struct{}{}}
}

func (r *rowSet) len() int { return len(r.seen) }

func (r *rowSet) add(row Row) {
	key := row.text()
	if _, twice := r.seen[key]; twice {
		return
	}
	r.seen[key] = struct{}{}
	r.cells = append(r.cells, row...)
}

func (r *rowSet) sorted() []uint16 {
	rows := slices.Collect(slices.Chunk(r.cells, r.width))
	slices.SortFunc(rows, func(a, b []uint16) int { return slices.Compare(a, b) })
	return slices.Concat(rows...)
}
