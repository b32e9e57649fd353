package gate

import (
	"math"

	"pawl/internal/collect"
	"pawl/internal/stats"
)

// Many rows come from one process: a benchmark program times hundreds of cases. They are measured
// in the same rounds, and each is judged by the gate's own test. What is different from one
// comparison:
//
//   - The alarm rate is that of the whole run: the chance that any row is called different
//     although none is (Holm 1979). It holds whatever the rows have in common, and rows of one
//     process have much in common. So a run has no more false alarms with 400 rows than with one.
//   - The guards (the control, a ratio that moves) share their level between the rows.
//   - There is one analysis, and nothing is called a regression without the test.
//   - The interval of a row is its own, of 95 %: of 400, about 20 do not contain the truth.

// Summary is what all rows together say.
type Summary struct {
	// Rows is how many were measured on both sides.
	Rows int `json:"rows"`
	// Slower and Faster is how many are proven to be, by however little.
	Slower int `json:"slower"`
	Faster int `json:"faster"`
	// Change is that of the geometric mean of all rows, with its 95 % interval over rounds.
	Change   float64        `json:"change"`
	Interval stats.Interval `json:"interval"`
}

// FewestRounds is the smallest number of rounds that can prove anything about one of so many rows.
func (p Policy) FewestRounds(rows int) int { return fewestRounds(p.Alarm / float64(max(1, rows))) }

// CompareRows judges rows that were measured in the same rounds, of baseline, candidate and control in permuted blocks
// of their orders. A row has samples of all three in every round.
func CompareRows(rows []Samples, orders [][]Arm, p Policy) ([]Comparison, Summary) {
	if len(rows) == 0 {
		return nil, Summary{Interval: stats.Unbounded()}
	}
	analysis := Analysis{Rounds: len(orders), Level: p.Alarm}
	all := make([]weighed, len(rows))
	chances := make([]float64, len(rows))
	for i, samples := range rows {
		r := &run{policy: p, samples: samples, orders: orders, variations: map[Arm][]float64{}}
		for arm, processes := range samples {
			r.variations[arm] = collect.Each(processes, stats.RobustCV)
		}
		all[i] = r.weigh([]Analysis{analysis}, analysis, true)
		all[i].family, all[i].tails = len(rows), nil
		chances[i] = all[i].between.P
	}
	compared := make([]Comparison, len(rows))
	for i, level := range stats.HolmLevels(chances, p.Alarm) {
		w := all[i]
		w.analysis.Level = level
		w.smallest = func() float64 { return p.smallestOf(w) }
		c := Comparison{
			Decision: p.judge(w), Method: Interleaved, Evidence: &w.between, Control: &w.control,
			Notes: p.notes(w.between), Candidate: rows[i][Candidate],
		}
		if p.judgeConditions(w) == nil {
			c.SmallestRegression = w.smallest()
		}
		compared[i] = c
		all[i] = w
	}
	return compared, summarize(all)
}

// smallestOf is about the smallest slowdown of a row that would have been called a regression nine times of
// ten: proven, with an estimate beyond the limit. For hundreds of rows a formula must do.
func (p Policy) smallestOf(w weighed) float64 {
	seen := func(level float64) float64 {
		return stats.EffectSeen(w.between.Spread*medianFactor, w.analysis.Rounds, level, power)
	}
	// The estimate is beyond the limit in half of the runs where the slowdown is the limit.
	return math.Expm1(max(seen(w.analysis.Level/2), math.Log1p(p.Regression)+seen(0.5)))
}

// summarize joins the rows: the unit is the round, because rows of one process are not independent.
func summarize(rows []weighed) Summary {
	s := Summary{Rows: len(rows)}
	ratios := make([]float64, len(rows[0].rounds))
	for _, w := range rows {
		for i, t := range w.rounds {
			ratios[i] += (t.baseline - t.candidate) / float64(len(rows))
		}
		switch proven := w.proven(w.between); {
		case proven && w.between.Change < 0:
			s.Slower++
		case proven:
			s.Faster++
		}
	}
	s.Change = changeOf(math.Exp(stats.Median(ratios)))
	s.Interval = changeInterval(ratios, 0.95, 0)
	return s
}
