package search

import (
	"pawl/space"
)

// neighbourhood walks between the points of a pool that differ in one
// parameter. It asks the pool, not the constraints, so that it also serves
// spaces that are known by a list.
type neighbourhood struct {
	pool *space.Pool
	axes []axis
	row  space.Row
}

func newNeighbourhood(pool *space.Pool, axes []axis) *neighbourhood {
	return &neighbourhood{pool: pool, axes: axes, row: make(space.Row, len(pool.Space().Params()))}
}

// each calls visit with every point of the pool that differs from a point in
// exactly one parameter, by any amount, in the order of parameters and values.
func (n *neighbourhood) each(index int, visit func(neighbour int)) {
	copy(n.row, n.pool.Row(index))
	for _, a := range n.axes {
		at := n.row[a.position]
		for value := range a.values() {
			if uint16(value) == at {
				continue
			}
			n.row[a.position] = uint16(value)
			if found, ok := n.pool.Find(n.row); ok {
				visit(found)
			}
		}
		n.row[a.position] = at
	}
}

// adjacent calls visit with the nearest points only: for an ordered parameter
// the next value of the pool on each side, for an unordered one every other.
func (n *neighbourhood) adjacent(index int, visit func(neighbour int)) {
	copy(n.row, n.pool.Row(index))
	for _, a := range n.axes {
		at := int(n.row[a.position])
		for _, step := range []int{-1, 1} {
			for value := at + step; value >= 0 && value < a.values(); value += step {
				n.row[a.position] = uint16(value)
				found, ok := n.pool.Find(n.row)
				if ok {
					visit(found)
				}
				if ok && a.ordered {
					break
				}
			}
		}
		n.row[a.position] = uint16(at)
	}
}
