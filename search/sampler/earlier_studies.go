package sampler

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/search/sampler/gaussian"
	"pawl/search/trial"
	"pawl/space"
)

// Timed is a point with a verified time, of an earlier study perhaps.
type Timed struct {
	Point        space.Point
	Milliseconds float64
}

// TimedOf returns the trials with a verified time, in their order.
func TimedOf(trials []trial.Trial) []Timed {
	return collect.Each(collect.Where(trials, trial.Trial.OK), func(t trial.Trial) Timed {
		return Timed{Point: t.Point, Milliseconds: t.Outcome.Milliseconds()}
	})
}

// Memory is what an earlier study has observed, in the words of another space:
// another workload, other sources, changed values. See Remember.
type Memory struct {
	Points []Remembered
	// SameDevice says that it was measured on a device of this kind.
	SameDevice bool
}

// Remembered is one point that an earlier study has measured.
type Remembered struct {
	// Row is the point, with the nearest values that today's space has.
	Row          space.Row
	Milliseconds float64
}

// Remember translates what an earlier study has measured into a space. A value that
// the space no longer has becomes the nearest one it has, a parameter that is new
// gets its default. Whether the space allows the point does not matter: it will not
// be tried, only learned from. Of points that become the same one the fastest counts.
// Failures are left out: limits differ most between devices.
//
// What was measured on a device of another maker is not remembered at all: it misleads
// a model. docs/search.md has the figures.
func Remember(s *space.Space, here, there string, measured []Timed) Memory {
	memory := Memory{SameDevice: here == there}
	if !Related(here, there) {
		return memory
	}
	for _, m := range measured {
		row := make(space.Row, len(s.Params()))
		for i, p := range s.Params() {
			row[i] = uint16(p.Index(nearest(p, m.Point)))
		}
		at := slices.IndexFunc(memory.Points, func(r Remembered) bool { return slices.Equal(r.Row, row) })
		if at < 0 {
			at = len(memory.Points)
			memory.Points = append(memory.Points, Remembered{row, m.Milliseconds})
		}
		memory.Points[at].Milliseconds = min(memory.Points[at].Milliseconds, m.Milliseconds)
	}
	return memory
}

// Learns reports whether a sampler's model learns from earlier studies. The others have their first points only.
func Learns(name string) bool { return name == "gp" || name == "auto" }

// Related reports whether a model may learn from one device about another: whether they
// have one maker, by the first word of their names.
func Related(here, there string) bool {
	maker := func(device string) string {
		word, _, _ := strings.Cut(strings.TrimSpace(device), " ")
		return strings.ToLower(word)
	}
	return maker(here) == maker(there)
}

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
func Transfer(pool *space.Pool, earlier ...[]Timed) []space.Point {
	lists := collect.Each(earlier, func(measured []Timed) []space.Point { return recommended(pool, measured) })
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
func recommended(pool *space.Pool, measured []Timed) []space.Point {
	points := []space.Point{pool.Space().Default()}
	ranked := slices.Clone(measured)
	slices.SortStableFunc(ranked, func(a, b Timed) int { return cmp.Compare(a.Milliseconds, b.Milliseconds) })
	// What ranks lower than the best quarter is no recommendation.
	for _, m := range ranked[:(len(ranked)+3)/4] {
		point, ok := translate(pool, m.Point)
		if ok && !slices.Contains(points, point) && (len(points) == 1 || unlike(pool.Space(), point, points[1:])) {
			points = append(points, point)
		}
		if len(points) == 1+transferredEach {
			break
		}
	}
	return points[1:]
}

// unlike reports whether a point differs from each of the others in at least a third of the parameters that vary.
func unlike(s *space.Space, point space.Point, others []space.Point) bool {
	varying := len(gaussian.Axes(s))
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

func translate(pool *space.Pool, from space.Point) (space.Point, bool) {
	point, err := space.NewPoint(collect.Each(pool.Space().Params(), func(p space.Param) space.Assignment {
		return space.Assignment{Name: p.Name, Value: nearest(p, from)}
	})...)
	if err != nil {
		return space.Point{}, false
	}
	_, err = pool.Index(point)
	return point, err == nil
}

// nearest returns the parameter's value that is closest to what a point of another
// space has, its default where that has none or closeness means nothing.
func nearest(p space.Param, from space.Point) space.Value {
	to, known := from.Get(p.Name)
	switch {
	case known && p.Index(to) >= 0:
		return to
	case !known || !p.Ordered || to.Kind() != p.Kind():
		return p.Default
	}
	return slices.MinFunc(p.Values, func(a, b space.Value) int { return cmp.Compare(apart(a, to), apart(b, to)) })
}

func apart(a, b space.Value) float64 { return math.Abs(a.Number() - b.Number()) }
