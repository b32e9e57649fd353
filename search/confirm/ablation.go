package confirm

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"pawl/objective"
	"pawl/objective/experiment"
	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
)

// ablationPath returns the points between the default and the winner, both
// included: at each step one more parameter has the winner's value. Its ends have
// contended and are checked in full; what lies between explains and is never
// suggested, so that the check of every trial will do. Points that fail are left
// out, which merges their step with the next.
func (c *confirmation) ablationPath(ctx context.Context,
	contenders []objective.Prepared) ([]objective.Prepared, error) {
	winner, found := Winner(c.standing())
	if !found || winner == c.search.Pool().Space().Default() {
		return nil, nil
	}
	points := AblationPoints(c.search.Pool(), sampler.TimedOf(c.search.Trials()), winner)
	c.compileAhead(ctx, points)
	var path []objective.Prepared
	for _, point := range points {
		if c.Stopped() {
			return nil, experiment.ErrStopped
		}
		if i := slices.IndexFunc(contenders, func(p objective.Prepared) bool { return p.Point == point }); i >= 0 {
			path = append(path, contenders[i])
			continue
		}
		p, err := c.evaluator.Prepare(ctx, point)
		if err != nil {
			return nil, err
		}
		if p.Failure != nil {
			continue
		}
		outcome, err := c.search.Check(ctx, p)
		if err != nil {
			return nil, err
		}
		if outcome.Failure == nil { // its samples are not used: the rounds take their own
			path = append(path, p)
		}
	}
	return path, nil
}

// standing are the rounds that still count.
func (c *confirmation) standing() []trial.Round {
	return trial.StandingRounds(c.search.Trials(), c.Rounds())
}

// compileAhead prepares points in all lanes at once. It only warms the
// evaluator's cache: whoever needs a point prepares it again and learns there
// what went wrong.
func (c *confirmation) compileAhead(ctx context.Context, points []space.Point) {
	var group errgroup.Group
	group.SetLimit(c.options.Lanes)
	for _, point := range points {
		group.Go(func() error {
			_, _ = c.evaluator.Prepare(ctx, point)
			return nil
		})
	}
	_ = group.Wait()
}

// AblationPoints returns valid points from the default to the winner. The most
// important parameter changes first; a change that would break a constraint
// waits until it does not, together with another one if need be.
func AblationPoints(pool *space.Pool, timed []sampler.Timed, winner space.Point) []space.Point {
	s := pool.Space()
	valid := func(p space.Point) bool {
		if pool.Complete() {
			_, err := pool.Index(p)
			return err == nil
		}
		return s.Check(p) == nil
	}
	points := []space.Point{s.Default()}
	var pending []space.Assignment
	for _, importance := range Importances(s, timed) {
		from, _ := s.Default().Get(importance.Name)
		to, _ := winner.Get(importance.Name)
		if from != to {
			pending = append(pending, space.Assignment{Name: importance.Name, Value: to})
		}
	}
	current := s.Default()
	for len(pending) > 0 {
		next, rest := nextStep(valid, current, pending)
		points = append(points, next)
		current, pending = next, rest
	}
	return points
}

// nextStep applies the fewest pending changes, first come first, that lead to
// a valid point: one, or else two, or else all of them.
func nextStep(valid func(space.Point) bool, current space.Point,
	pending []space.Assignment) (space.Point, []space.Assignment) {
	for i := range pending {
		if next := withChanges(current, pending[i]); valid(next) {
			return next, slices.Delete(slices.Clone(pending), i, i+1)
		}
	}
	for i := range pending {
		for j := i + 1; j < len(pending); j++ {
			if next := withChanges(current, pending[i], pending[j]); valid(next) {
				return next, slices.Delete(slices.Delete(slices.Clone(pending), j, j+1), i, i+1)
			}
		}
	}
	return withChanges(current, pending...), nil
}

// withChanges returns the point with some parameters set to other values.
func withChanges(point space.Point, changes ...space.Assignment) space.Point {
	for _, change := range changes {
		var err error
		if point, err = point.With(change.Name, change.Value); err != nil {
			panic("confirm: " + err.Error())
		}
	}
	return point
}
