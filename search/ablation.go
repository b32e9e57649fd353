package search

import (
	"context"
	"slices"
	"sync"

	"pawl/objective"
	"pawl/space"
)

// ablationPath returns the points between the default and the winner, both
// included: at each step one more parameter has the winner's value. Its ends have
// contended and are checked in full; what lies between explains and is never
// suggested, so that the check of every trial will do. Points that fail are left
// out, which merges their step with the next.
func (e *engine) ablationPath(ctx context.Context, contenders []objective.Prepared) ([]objective.Prepared, error) {
	s := e.study.pool.Space()
	winner, found := Winner(Past{Trials: e.study.trials, Rounds: e.rounds}.Standing())
	if !found || winner == s.Default() {
		return nil, nil
	}
	points := AblationPoints(e.study.pool, e.study.trials, winner)
	e.compileAhead(ctx, points)
	var path []objective.Prepared
	for _, point := range points {
		if e.stopped() {
			return nil, errStopped
		}
		if i := slices.IndexFunc(contenders, func(p objective.Prepared) bool { return p.Point == point }); i >= 0 {
			path = append(path, contenders[i])
			continue
		}
		p, failure, err := e.checkQuickly(ctx, point)
		if err != nil {
			return nil, err
		}
		if failure == nil {
			path = append(path, p)
		}
	}
	return path, nil
}

// checkQuickly checks a point as a trial would, unless it was one. Samples are not
// used here: the rounds take their own.
func (e *engine) checkQuickly(ctx context.Context, point space.Point) (objective.Prepared, *objective.Failure, error) {
	p, err := e.evaluator.Prepare(ctx, point)
	if err != nil || p.Failure != nil {
		return p, p.Failure, err
	}
	if i := slices.IndexFunc(e.study.trials, func(t Trial) bool { return t.Told && t.Point == point }); i >= 0 {
		known := e.study.trials[i].Outcome
		return p, known.Failure, sameBinary(known, p)
	}
	outcome, err := e.evaluate(ctx, p)
	return p, outcome.Failure, err
}

// compileAhead prepares points in all lanes at once. It only warms the
// evaluator's cache: whoever needs a point prepares it again and learns there
// what went wrong.
func (e *engine) compileAhead(ctx context.Context, points []space.Point) {
	var wait sync.WaitGroup
	for _, point := range points {
		wait.Go(func() {
			e.lanes <- struct{}{}
			defer func() { <-e.lanes }()
			_, _ = e.evaluator.Prepare(ctx, point)
		})
	}
	wait.Wait()
}

// AblationPoints returns valid points from the default to the winner. The most
// important parameter changes first; a change that would break a constraint
// waits until it does not, together with another one if need be.
func AblationPoints(pool *space.Pool, trials []Trial, winner space.Point) []space.Point {
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
	for _, importance := range Importances(s, trials) {
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
func nextStep(valid func(space.Point) bool, current space.Point, pending []space.Assignment) (space.Point, []space.Assignment) {
	for i := range pending {
		if next := withChanges(current, pending[i]); valid(next) {
			return next, without(pending, i, -1)
		}
	}
	for i := range pending {
		for j := i + 1; j < len(pending); j++ {
			if next := withChanges(current, pending[i], pending[j]); valid(next) {
				return next, without(pending, i, j)
			}
		}
	}
	return withChanges(current, pending...), nil
}

func without(pending []space.Assignment, i, j int) []space.Assignment {
	var rest []space.Assignment
	for at, a := range pending {
		if at != i && at != j {
			rest = append(rest, a)
		}
	}
	return rest
}

// withChanges returns the point with some parameters set to other values.
func withChanges(point space.Point, changes ...space.Assignment) space.Point {
	assignments := point.Assignments()
	for i, a := range assignments {
		for _, change := range changes {
			if change.Name == a.Name {
				assignments[i] = change
			}
		}
	}
	changed, err := space.NewPoint(assignments...)
	if err != nil {
		panic("search: " + err.Error())
	}
	return changed
}
