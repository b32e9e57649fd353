package search

import (
	"slices"

	"pawl/space"
)

// transferred is how many points are taken over from earlier studies, and
// transferredEach how many of them from one study. They are a wager of a few
// trials: what was best on one device may be among the worst on another, and the
// best points of one study resemble each other, so that they win or lose
// together. What else earlier studies know reaches the model: see Remember.
const (
	transferred     = 3
	transferredEach = 2
)

// Transfer returns the points of earlier studies that are worth trying first
// in a space: the best of each in turn, and then one that is unlike it. A value
// that the space no longer has becomes the nearest one it has, a parameter that
// is new gets its default; what is not in the pool then is left out.
func Transfer(pool *space.Pool, earlier ...[]Trial) []space.Point {
	var lists [][]space.Point
	for _, trials := range earlier {
		lists = append(lists, recommended(pool, trials))
	}
	var points []space.Point
	for place := range transferredEach {
		for _, list := range lists {
			if place < len(list) && len(points) < transferred && !slices.Contains(points, list[place]) {
				points = append(points, list[place])
			}
		}
	}
	return points
}

// recommended returns the best points of one study that are unlike each other
// and not the default, which is tried anyway.
func recommended(pool *space.Pool, trials []Trial) []space.Point {
	points := []space.Point{pool.Space().Default()}
	ranked := Ranking(trials)
	// What ranks lower than the best quarter is no recommendation.
	for _, trial := range ranked[:(len(ranked)+3)/4] {
		point, ok := translate(pool, trial.Point)
		if ok && !slices.Contains(points, point) && (len(points) == 1 || unlike(pool.Space(), point, points[1:])) {
			points = append(points, point)
		}
		if len(points) == 1+transferredEach {
			break
		}
	}
	return points[1:]
}

// unlike reports whether a point differs from each of the others in at least a
// third of the parameters that vary.
func unlike(s *space.Space, point space.Point, others []space.Point) bool {
	varying := len(axesOf(s))
	for _, other := range others {
		differing := 0
		for _, p := range s.Params() {
			a, _ := point.Get(p.Name)
			b, _ := other.Get(p.Name)
			if a != b {
				differing++
			}
		}
		if 3*differing < varying {
			return false
		}
	}
	return true
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
