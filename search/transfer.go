package search

import (
	"slices"

	"pawl/space"
)

// transferred is how many points are taken over from earlier studies. They
// cost a few trials at the worst: a search that is told nonsense begins that
// much later, and is otherwise the same.
const transferred = 5

// Transfer returns the points of earlier studies that are worth trying first
// in a space: the best of each in turn, so that no study crowds out another. A
// value that the space no longer has becomes the nearest one it has, a
// parameter that is new gets its default; what is not in the pool then is left
// out.
func Transfer(pool *space.Pool, earlier ...[]Trial) []space.Point {
	var rankings [][]Trial
	longest := 0
	for _, trials := range earlier {
		ranked := Ranking(trials)
		rankings = append(rankings, ranked)
		longest = max(longest, len(ranked))
	}
	var points []space.Point
	for place := range longest {
		for _, ranked := range rankings {
			if place >= len(ranked) || len(points) == transferred {
				continue
			}
			point, ok := translate(pool, ranked[place].Point)
			if ok && !slices.Contains(points, point) && point != pool.Space().Default() {
				points = append(points, point)
			}
		}
		if place >= 2*transferred {
			break // what ranks lower is no longer a recommendation
		}
	}
	return points
}

// translate moves a point into another space.
func translate(pool *space.Pool, from space.Point) (space.Point, bool) {
	var assignments []space.Assignment
	for _, p := range pool.Space().Params() {
		value := p.Default
		if old, known := from.Get(p.Name); known {
			value = nearest(p, old)
		}
		assignments = append(assignments, space.Assignment{Name: p.Name, Value: value})
	}
	point, err := space.NewPoint(assignments...)
	if err != nil {
		return space.Point{}, false
	}
	_, err = pool.Index(point)
	return point, err == nil
}

// nearest returns the parameter's value that is closest to another, its default
// where closeness means nothing.
func nearest(p space.Param, to space.Value) space.Value {
	if p.Index(to) >= 0 {
		return to
	}
	if !p.Ordered || to.Kind() != p.Kind() {
		return p.Default
	}
	best := p.Values[0]
	for _, v := range p.Values {
		if apart(v, to) < apart(best, to) {
			best = v
		}
	}
	return best
}

func apart(a, b space.Value) int64 {
	return max(a.Integer()-b.Integer(), b.Integer()-a.Integer())
}
