package sampler

import (
	"math"

	"pawl/search/sampler/gaussian"
)

// costModel expects what a trial of a point takes, relative to a typical one,
// from what the finished trials have taken.
//
// The logarithm is a sum of what each value of each parameter adds. That is
// coarse, and coarse is enough: the choice asks whether a point takes twice as
// long, not whether it takes 5 % longer.
type costModel struct {
	// effects[j][v] is what value v of axis j adds to the logarithm.
	effects [][]float64
	most    float64 // see Cost
}

// costs returns nil where the cost plays no part or too little is known.
func (c common) costs(view *View) *costModel {
	if view.CostWeight <= 0 {
		return nil
	}
	var points [][]uint16
	var logs []float64
	mean := 0.0
	for _, o := range view.Observations {
		if o.Seconds > 0 {
			points = append(points, gaussian.ValuesOf(c.axes, view.Pool.Row(o.Index)))
			logs = append(logs, math.Log(o.Seconds))
			mean += math.Log(o.Seconds)
		}
	}
	if len(logs) < c.settings.Cost.Fewest {
		return nil
	}
	mean /= float64(len(logs))
	for i := range logs {
		logs[i] -= mean
	}
	return c.settings.Cost.fit(c.axes, points, logs)
}

// fit fits the effects one axis at a time to what the others leave over (backfitting), each shrunk towards none.
func (c Cost) fit(axes []gaussian.Axis, points [][]uint16, left []float64) *costModel {
	m := &costModel{most: math.Log(c.Most)}
	for _, a := range axes {
		m.effects = append(m.effects, make([]float64, a.Values()))
	}
	for range c.Sweeps {
		for j, effects := range m.effects {
			sums, counts := make([]float64, len(effects)), make([]float64, len(effects))
			for i, point := range points {
				v := point[j]
				sums[v] += left[i] + effects[v]
				counts[v]++
			}
			fitted := make([]float64, len(effects))
			for v := range fitted {
				fitted[v] = sums[v] / (counts[v] + c.Shrink)
			}
			for i, point := range points {
				left[i] += effects[point[j]] - fitted[point[j]]
			}
			copy(effects, fitted)
		}
	}
	return m
}

// log returns the logarithm of a point's cost over a typical one's, within bounds; 0 without a model.
func (m *costModel) log(values []uint16) float64 {
	if m == nil {
		return 0
	}
	sum := 0.0
	for j, v := range values {
		sum += m.effects[j][v]
	}
	return min(max(sum, -m.most), m.most)
}
