package search

import "math"

// costModel expects what a trial of a point takes, relative to a typical one,
// from what the told trials have taken.
//
// The logarithm is a sum of what each value of each parameter adds. That is
// coarse, and coarse is enough: the choice asks whether a point takes twice as
// long, not whether it takes 5 % longer.
type costModel struct {
	// effects[j][v] is what value v of axis j adds to the logarithm.
	effects [][]float64
}

const (
	// costShrink is the number of imagined observations without any effect that
	// each value is averaged with: what was seen once is believed by a third.
	costShrink = 2
	// costSweeps is how often the effects are fitted to what the others leave.
	costSweeps = 5
	// costMost bounds how many times as long as a typical one a trial is taken
	// to last, and how much shorter: no point is ruled out by its cost, and none
	// is chosen for it alone.
	costMost = 4
	// costTold is the number of costs that must be known.
	costTold = 5
)

// newCostModel returns nil where the cost plays no part or too little is known.
func newCostModel(view *View, axes []axis) *costModel {
	if view.Thrift <= 0 {
		return nil
	}
	var points [][]uint16
	var logs []float64
	mean := 0.0
	for _, o := range view.Observations {
		if o.Seconds > 0 {
			points = append(points, valuesOf(axes, view.Pool.Row(o.Index)))
			logs = append(logs, math.Log(o.Seconds))
			mean += math.Log(o.Seconds)
		}
	}
	if len(logs) < costTold {
		return nil
	}
	mean /= float64(len(logs))
	for i := range logs {
		logs[i] -= mean
	}
	return fitCosts(axes, points, logs)
}

// fitCosts fits the effects one axis at a time to what the others leave over
// (backfitting), each shrunk towards none.
func fitCosts(axes []axis, points [][]uint16, left []float64) *costModel {
	c := &costModel{}
	for _, a := range axes {
		c.effects = append(c.effects, make([]float64, a.values()))
	}
	for range costSweeps {
		for j, effects := range c.effects {
			sums, counts := make([]float64, len(effects)), make([]float64, len(effects))
			for i, point := range points {
				v := point[j]
				sums[v] += left[i] + effects[v]
				counts[v]++
			}
			fitted := make([]float64, len(effects))
			for v := range fitted {
				fitted[v] = sums[v] / (counts[v] + costShrink)
			}
			for i, point := range points {
				left[i] += effects[point[j]] - fitted[point[j]]
			}
			copy(effects, fitted)
		}
	}
	return c
}

// logCost returns the logarithm of a point's cost over a typical one's, within
// bounds; 0 without a model.
func (c *costModel) logCost(values []uint16) float64 {
	if c == nil {
		return 0
	}
	sum := 0.0
	for j, v := range values {
		sum += c.effects[j][v]
	}
	return min(max(sum, -math.Log(costMost)), math.Log(costMost))
}
