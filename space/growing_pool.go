package space

import (
	"cmp"
	"slices"
)

// growth is what a sampled pool has beside its sample.
type growth struct {
	checker *checker
	// kept are the points with a lasting position, transient those that were looked at since.
	kept, transient []Row
	// positions are of both, by the row's text; notThere for a row that is no valid point.
	positions map[string]int
}

const (
	notThere = -1
	// firstTransient is the position of the first transient point: behind all that a pool can keep.
	firstTransient = 1 << 40
)

// Growing returns the pool for one search, which one goroutine uses. A complete pool is itself. One
// that was sampled also finds the valid points outside of its sample, so that a search can go from a
// point to any of its neighbors: of a space of a billion points a sample has next to none of them.
//
// Len counts the sample alone. A point that is found outside of it has a position behind, which holds
// until Forget, or for good if it is kept.
func (p *Pool) Growing() *Pool {
	if p.complete || p.growth != nil {
		return p
	}
	grown := *p
	grown.growth = &growth{checker: newChecker(p.space), positions: map[string]int{}}
	return &grown
}

// Keep returns a position that holds for good of a point that was found.
func (p *Pool) Keep(position int) int {
	if position < firstTransient {
		return position
	}
	row := p.Row(position)
	kept := p.Len() + len(p.growth.kept)
	p.growth.kept = append(p.growth.kept, row)
	p.growth.positions[row.text()] = kept
	return kept
}

// Forget takes back the positions of points that were found and not kept.
func (p *Pool) Forget() {
	if p.growth == nil || len(p.growth.positions) == len(p.growth.kept) {
		return
	}
	p.growth.transient = nil
	clear(p.growth.positions)
	for i, row := range p.growth.kept {
		p.growth.positions[row.text()] = p.Len() + i
	}
}

// Compare orders two positions by their rows.
func (p *Pool) Compare(i, j int) int {
	if n := p.Len(); i < n && j < n {
		return cmp.Compare(i, j)
	}
	return slices.Compare(p.Row(i), p.Row(j))
}

// beyond finds a valid point outside of the sample.
func (p *Pool) beyond(row Row) (int, bool) {
	g := p.growth
	text := row.text()
	position, known := g.positions[text]
	if !known {
		position = notThere
		if p.allows(row) {
			position = firstTransient + len(g.transient)
			g.transient = append(g.transient, slices.Clone(row))
		}
		g.positions[text] = position
	}
	return position, position != notThere
}

// allows reports whether a row is a valid point that no filter has taken out. Where a constraint cannot
// be evaluated there is none.
func (p *Pool) allows(row Row) bool {
	for depth := range row {
		if !p.growth.checker.holds(row, depth) {
			return false
		}
	}
	return !slices.ContainsFunc(p.filters, func(keep func(Point) bool) bool { return !keep(p.space.Point(row)) })
}

func (r Row) text() string {
	key := make([]byte, 0, 2*len(r))
	for _, cell := range r {
		key = append(key, byte(cell>>8), byte(cell))
	}
	return string(key)
}
