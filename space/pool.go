package space

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
)

// ErrEmpty is returned when no point satisfies the constraints.
var ErrEmpty = errors.New("no point satisfies the constraints")

// Pool is a table of distinct valid points in lexicographic order of their
// rows. It is immutable and safe for concurrent use, unless it is Growing.
type Pool struct {
	space    *Space
	cells    []uint16 // row after row
	complete bool
	filters  []func(Point) bool // what has taken points out of it
	growth   *growth            // nil unless it is growing
}

// PoolOptions bounds the work of building a pool.
type PoolOptions struct {
	// Points is the largest number of points to enumerate. Zero means
	// 2,000,000. A space with more is sampled, with at most 100,000 points:
	// a search looks at every point of the pool at every step.
	Points int
	// Branches is the largest number of branches to look at before the space
	// counts as too large to enumerate. Zero means 200,000,000, which takes a
	// few seconds. Constraints over many values count for more.
	Branches int
	// Done ends the work early when it is closed, with ErrStopped. Nil means never.
	Done <-chan struct{}
	// Seed draws the points of a sampled pool.
	Seed uint64
}

// Pool returns the valid points, all of them where the options allow it and a
// sample otherwise. The default point is always among them.
func (s *Space) Pool(options PoolOptions) (*Pool, error) {
	limit := min(cmp.Or(options.Points, 2_000_000), mostCells/len(s.params))
	branches := cmp.Or(options.Branches, 200_000_000)
	c := newChecker(s)
	c.done = options.Done
	cells, points := []uint16(nil), 0
	keep := func(most int) func(Row) bool {
		return func(row Row) bool {
			if points++; points <= most {
				cells = append(cells, row...)
			}
			return points <= limit
		}
	}
	// A space that turns out to be too large needs none of what the walk has seen of it: beyond what a sample takes,
	// points are counted, and walked through again if they are not too many.
	complete := c.walk(branches, keep(mostSampled))
	if complete && points > mostSampled {
		cells, points = make([]uint16, 0, points*len(s.params)), 0
		complete = c.walk(branches, keep(limit))
	}
	if !complete { // what the walk has seen is one corner of the space: begin again at random
		cells = c.sample(min(limit, mostSampled), branches, rand.New(rand.NewPCG(options.Seed, 0x706f6f6c)))
	}
	if c.err != nil {
		return nil, c.err
	}
	return newPool(s, cells, complete)
}

// mostSampled bounds the points of a sample.
const mostSampled = 100_000

// mostCells bounds the memory of an enumeration, in positions of two bytes.
const mostCells = 64 << 20

func newPool(s *Space, cells []uint16, complete bool) (*Pool, error) {
	if len(cells) == 0 {
		return nil, ErrEmpty
	}
	return &Pool{space: s, cells: slices.Clip(cells), complete: complete}, nil
}

// Space returns the space that the pool was drawn from.
func (p *Pool) Space() *Space { return p.space }

// Complete reports whether the pool holds every valid point.
func (p *Pool) Complete() bool { return p.complete }

// Len returns the number of points.
func (p *Pool) Len() int { return len(p.cells) / len(p.space.params) }

// Row returns the positions of the i-th point. The caller must not modify it.
func (p *Pool) Row(i int) Row {
	width := len(p.space.params)
	switch {
	case i >= firstTransient:
		return p.growth.transient[i-firstTransient]
	case i*width >= len(p.cells):
		return p.growth.kept[i-p.Len()]
	}
	return p.cells[i*width : (i+1)*width : (i+1)*width]
}

// Point returns the i-th point.
func (p *Pool) Point(i int) Point { return p.space.Point(p.Row(i)) }

// Find returns the position of a row in the pool.
func (p *Pool) Find(row Row) (int, bool) {
	i, found := sort.Find(p.Len(), func(i int) int { return slices.Compare(row, p.Row(i)) })
	if !found && p.growth != nil {
		return p.beyond(row)
	}
	return i, found
}

// Index returns the position of a point in the pool.
func (p *Pool) Index(point Point) (int, error) {
	row, err := p.space.Row(point)
	if err != nil {
		return 0, err
	}
	if i, ok := p.Find(row); ok {
		return i, nil
	}
	return 0, fmt.Errorf("point %s is not in the pool", point)
}

// Filter returns the pool of the points that keep accepts. Of a sampled pool keep is asked again when
// it grows.
func (p *Pool) Filter(keep func(Point) bool) (*Pool, error) {
	var cells []uint16
	for i := range p.Len() {
		if keep(p.Point(i)) {
			cells = append(cells, p.Row(i)...)
		}
	}
	kept, err := newPool(p.space, cells, p.complete)
	if err == nil && !p.complete {
		kept.filters = append(slices.Clone(p.filters), keep)
	}
	return kept, err
}

// PoolOf returns the pool of exactly the given points, for a space that is
// known by a list instead of constraints. Constraints are not looked at.
func (s *Space) PoolOf(points []Point) (*Pool, error) {
	rows := rowSet{}
	for _, p := range points {
		row, err := s.Row(p)
		if err != nil {
			return nil, fmt.Errorf("point %s: %w", p, err)
		}
		rows.add(row)
	}
	return newPool(s, rows.sorted(), true)
}
