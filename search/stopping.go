package search

import (
	"context"
	"errors"
	"time"

	"pawl/search/sampler"
	"pawl/search/trial"
)

// reached returns the first reason to ask for no more, or none.
func (e *engine) reached() trial.Ending {
	switch {
	case e.options.stopped():
		return trial.Stopped
	case ReferenceSuspected(e.study.trials, false):
		return trial.AllWrong
	case e.options.Trials > 0 && len(e.study.trials) >= e.options.Trials:
		return trial.TrialsDone
	case e.study.view.FreeCount() == 0:
		return trial.UsedUp
	case e.targetMet():
		return trial.TargetMet
	case e.littleLeft():
		return trial.LittleLeft
	case e.options.Budget > 0 && e.budget.elapsed() >= e.budget.searchTime():
		return trial.BudgetSpent
	}
	return ""
}

// costWeight returns how much the cost of a point counts in the next choice. Where
// time is the only limit, that is fully at the beginning, when cheap points leave
// time for more, and not at all at the end, when nothing comes after the last one
// (cost cooling, Lee et al. 2020). It looks at recorded times, not at the clock,
// so that a resumed study chooses as the undisturbed one.
func (e *engine) costWeight() float64 {
	if e.options.Budget == 0 || e.options.Trials > 0 {
		return 0
	}
	return max(0, 1-float64(e.study.elapsed)/(SearchShare*float64(e.options.Budget)))
}

// regretEvery is how many finished trials lie between two estimates of the regret:
// one costs as much as several asks.
const regretEvery = 10

// littleLeft reports whether the rest of the space is not worth the time. A model alone does not decide that: it knows
// nothing of a region that looks like others and that no trial has met. So once the model says so, points are drawn
// uniformly, and it must say so again after them.
func (e *engine) littleLeft() bool {
	if e.options.Regret == 0 {
		return false
	}
	draws := e.options.Settings.Regret.Draws
	if len(e.study.draws) > 0 { // it has begun, perhaps before an interruption
		e.study.wanted = draws
	}
	if observed := len(e.study.view.Observations); observed == 0 || observed%regretEvery != 0 {
		return false
	}
	regret, known := sampler.EstimateRegret(e.study.view, *e.options.Settings, e.options.Seed)
	if !known || regret.Left > float64(e.options.Regret) {
		return false
	}
	e.study.wanted = draws
	return e.study.drawn() >= draws
}

// targetMet compares the best trial with the default, the first one.
func (e *engine) targetMet() bool {
	best, found := e.study.best()
	if e.options.Target == 0 || !found || !e.study.trials[0].OK() {
		return false
	}
	return e.study.trials[0].Outcome.Milliseconds() >= float64(e.options.Target)*best.Outcome.Milliseconds()
}

// stopGrace is how long what runs may take to finish after the user has stopped the search. Without a bound, a farm
// whose machines are gone would be waited for.
const stopGrace = 10 * time.Second

// errStopped is why what still runs then is abandoned.
var errStopped = errors.New("stopped by the user")

// untilStopped returns a context that ends when the user has stopped the search and what runs had its time.
func (o Options) untilStopped(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-o.Stop: // a nil channel never answers
		case <-ctx.Done():
			return
		}
		time.AfterFunc(stopGrace, func() { cancel(errStopped) })
	}()
	return ctx, func() { cancel(nil) }
}

func (o Options) stopped() bool {
	select {
	case <-o.Stop: // a nil channel never answers
		return true
	default:
		return false
	}
}
