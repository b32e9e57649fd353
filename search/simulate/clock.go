package simulate

import (
	"fmt"
	"time"
)

// clock tells how far a search has come: by the number of trials, or by what
// they have cost. By cost, a tick is what the average point of the space takes,
// so that budgets mean the same in every space.
type clock struct {
	recorded *Recorded
	byCost   bool
	elapsed  float64 // in ticks
}

// advance adds a trial and returns how many ticks are over.
func (c *clock) advance(index int) {
	if c.byCost {
		c.elapsed += c.recorded.cost(index) / c.recorded.meanCost
		return
	}
	c.elapsed++
}

// cost returns what a point takes in seconds, the mean where the record does not
// say.
func (r *Recorded) cost(index int) float64 {
	if spent := r.space.Entry(index).Spent; spent > 0 {
		return spent.Seconds()
	}
	return r.meanCost
}

// averageCost returns what the points of a space take on average, in seconds; 0
// where the record knows no costs.
func (r *Recorded) averageCost() float64 {
	var sum time.Duration
	count := 0
	for i := range r.space.Pool().Len() {
		if spent := r.space.Entry(i).Spent; spent > 0 {
			sum += spent
			count++
		}
	}
	return sum.Seconds() / float64(max(count, 1))
}

// costsKnown fails for a space that cannot be raced by the clock.
func (r *Recorded) costsKnown() error {
	if r.meanCost == 0 {
		return fmt.Errorf("%s records no compile or run times: leave out --clock", r.name)
	}
	return nil
}
