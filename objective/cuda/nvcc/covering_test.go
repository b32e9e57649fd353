package nvcc

import (
	"slices"
	"testing"

	"pawl/internal/thorough"
	"pawl/space"
)

// A corner is a valid point that has something for the first time: a value of a
// parameter, two values that are both at an end of their parameters (the first or the
// last of the manifest), or any two values. They are worth so much that a greedy walk
// goes for the values first, then for the extremes.
const (
	worthPair     = 1
	worthExtremes = 1 << 10
	worthValue    = 1 << 20
)

// corners are chosen from the valid points, the default first.
type corners struct {
	space *space.Space
	rows  []space.Row
	// worth is what two values are still worth, at index; two of the same parameter
	// are one value.
	worth  []int
	width  int // values of the parameter that has most
	chosen []space.Point
}

// newCorners takes the points that are valid for any of the workloads, of a large space
// 100,000 of them: what follows looks at all of them for every corner.
func newCorners(t *testing.T, spaces []*space.Space) *corners {
	t.Helper()
	c := &corners{space: spaces[0]}
	for _, s := range spaces {
		pool, err := s.Pool(space.PoolOptions{Seed: 1, Points: thorough.Count(1000, 200_000)})
		if err != nil {
			t.Fatal(err)
		}
		for i := range pool.Len() {
			c.rows = append(c.rows, pool.Row(i))
		}
	}
	slices.SortFunc(c.rows, func(a, b space.Row) int { return slices.Compare(a, b) })
	c.rows = slices.CompactFunc(c.rows, func(a, b space.Row) bool { return slices.Equal(a, b) })
	c.appraise()
	row, err := c.space.Row(c.space.Default())
	if err != nil {
		t.Fatal(err)
	}
	c.take(row)
	return c
}

// appraise says what everything is worth that nothing has yet.
func (c *corners) appraise() {
	params := c.space.Params()
	for _, p := range params {
		c.width = max(c.width, len(p.Values))
	}
	c.worth = make([]int, len(params)*len(params)*c.width*c.width)
	end := func(value, param int) bool { return value == 0 || value == len(params[param].Values)-1 }
	for i := range params {
		for j := i; j < len(params); j++ {
			for a := range params[i].Values {
				for b := range params[j].Values {
					worth := worthPair
					switch {
					case i == j && a != b:
						worth = 0
					case i == j:
						worth = worthValue
					case end(a, i) && end(b, j):
						worth = worthExtremes
					}
					c.worth[c.index(i, j, uint16(a), uint16(b))] = worth
				}
			}
		}
	}
}

func (c *corners) index(i, j int, a, b uint16) int {
	return ((i*len(c.space.Params())+j)*c.width+int(a))*c.width + int(b)
}

// each visits what a point has.
func (c *corners) each(row space.Row, visit func(index int)) {
	for i := range row {
		for j := i; j < len(row); j++ {
			visit(c.index(i, j, row[i], row[j]))
		}
	}
}

func (c *corners) take(row space.Row) {
	c.each(row, func(index int) { c.worth[index] = 0 })
	c.chosen = append(c.chosen, c.space.Point(row))
}

// choose takes points until there are so many, or until none is worth as much as that.
func (c *corners) choose(most, least int) []space.Point {
	for len(c.chosen) < most {
		best, at := 0, -1
		for i, row := range c.rows {
			worth := 0
			c.each(row, func(index int) { worth += c.worth[index] })
			if worth > best {
				best, at = worth, i
			}
		}
		if best < least || at < 0 {
			break
		}
		c.take(c.rows[at])
	}
	return c.chosen
}

// has reports whether a value of a parameter occurs in what was chosen.
func (c *corners) has(param int, value uint16) bool {
	return c.worth[c.index(param, param, value, value)] == 0
}
