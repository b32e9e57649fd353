package dispatch

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/combin"

	"pawl/internal/collect"
	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/search/confirm"
	"pawl/space"
)

// Plan is what each number of points costs, and which one to ship.
type Plan struct {
	Kernel  string `json:"kernel"`
	Backend string `json:"backend"`
	Device  string `json:"device"`
	// Source identifies the kernel's files.
	Source     string      `json:"source"`
	Candidates []Candidate `json:"candidates"`
	Workloads  []Measured  `json:"workloads"`
	// LeftOut says which workloads were measured too little for the table, and how little.
	LeftOut []string `json:"left_out,omitempty"`
	// Choices are the best ones for 1, 2, 3 points, for the number that is shipped, and
	// for as many as lose nothing.
	Choices []Choice `json:"choices"`
	// Shipped is the index of the one to ship, and Advice says why.
	Shipped int    `json:"shipped"`
	Advice  string `json:"advice"`

	kernel *kernels.Kernel
}

// Choice is a set of points for all workloads.
type Choice struct {
	Points []space.Point `json:"points"`
	// Everything says that it loses nothing: no more points would help.
	Everything bool `json:"everything,omitempty"`
	// Mean is how much longer than the best candidate the chosen points take, as the
	// geometric mean over the workloads; Worst is the largest loss.
	Mean         float64        `json:"mean_loss"`
	MeanInterval stats.Interval `json:"mean_loss_interval"`
	Worst        int            `json:"worst_workload"`
	Workloads    []Assignment   `json:"workloads"`
}

// Assignment is the point of a choice for one workload.
type Assignment struct {
	Workload     string  `json:"workload"`
	Point        int     `json:"point"` // in the choice
	Milliseconds float64 `json:"milliseconds"`
	// Loss is how much longer it takes than Best, the best candidate there, as a share;
	// Interval is its 95 % interval.
	Loss     float64        `json:"loss"`
	Interval stats.Interval `json:"loss_interval"`
	Best     space.Point    `json:"best"`
}

// losses are how much longer each candidate takes than the best one, by workload and
// candidate; infinite where it does not work.
type losses [][]float64

// choose finds the best points for each number of them.
func choose(k *kernels.Kernel, candidates []Candidate, measured []Measured, wanted int, limit float64) (*Plan, error) {
	for i := range candidates {
		for _, m := range measured {
			if why := m.wrong[candidates[i].Point]; why != "" && candidates[i].Wrong == "" {
				candidates[i].Wrong = fmt.Sprintf("%s: %s", m.Workload, why)
			}
		}
	}
	var leftOut []string
	measured = slices.DeleteFunc(slices.Clone(measured), func(m Measured) bool {
		rounds := 0
		if len(m.contenders) > 0 {
			rounds = len(m.contenders[0].Rounds)
		}
		few := rounds < confirm.FewestRounds && len(m.Failures) < len(candidates)
		if few {
			leftOut = append(leftOut, fmt.Sprintf("%s is not in the table: it has %d of the %d rounds that it needs. Run the "+
				"same command again, with a larger --budget, to go on", m.Workload, rounds, confirm.FewestRounds))
		}
		return few
	})
	if len(measured) == 0 {
		return nil, devices.Nothingf("%s", strings.Join(leftOut, "\n"))
	}
	best := make([]int, len(measured))
	table := make(losses, len(measured))
	for w := range measured {
		var err error
		if table[w], best[w], err = lossesOn(&measured[w], candidates); err != nil {
			return nil, err
		}
	}
	source, err := k.Digest()
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Kernel: k.Name, Backend: k.Backend, Device: measured[0].Environment.Device, Source: source, Candidates: candidates,
		Workloads: measured, LeftOut: leftOut,
		kernel: k,
	}
	everything := len(distinct(best))
	if wanted > everything {
		wanted = 0 // more points than help
	}
	for size := 1; size <= everything; size++ {
		set, covers := table.least(size, best)
		if !covers {
			continue
		}
		c := p.choice(set, table, best)
		c.Everything = size == everything
		if wanted == 0 && (c.Everything || c.Workloads[c.Worst].Loss <= limit) {
			wanted = size
		}
		if size <= 3 || size == wanted || c.Everything {
			p.Choices = append(p.Choices, c)
		}
	}
	p.Shipped = slices.IndexFunc(p.Choices, func(c Choice) bool { return len(c.Points) >= wanted })
	p.advise(limit)
	return p, nil
}

// lossesOn returns how much each candidate loses on a workload, and which one is best there.
func lossesOn(m *Measured, candidates []Candidate) ([]float64, int, error) {
	var working []confirm.Contender
	for _, c := range candidates {
		if contender, works := m.contender(c.Point); works && c.Wrong == "" {
			working = append(working, contender)
		}
	}
	if len(working) == 0 {
		return nil, 0, devices.Nothingf("no candidate works on workload %s: tune it again, or leave it out with "+
			"--workload", m.Workload)
	}
	probabilities := confirm.ProbabilityBest(working)
	first := slices.Index(probabilities, slices.Max(probabilities))
	row, best := make([]float64, len(candidates)), -1
	for i, c := range candidates {
		row[i] = math.Inf(1)
		at := slices.IndexFunc(working, func(w confirm.Contender) bool { return w.Point == c.Point })
		switch {
		case at == first:
			row[i], best = 0, i
		case at >= 0:
			row[i] = max(0, stats.Speedup(working[at].Rounds, working[first].Rounds)-1)
		}
	}
	return row, best, nil
}

// distinct returns the different numbers, in order.
func distinct(numbers []int) []int { return slices.Compact(slices.Sorted(slices.Values(numbers))) }

// mostTried bounds the sets that are tried one by one.
const mostTried = 2_000_000

// least returns the set of a size with the smallest mean loss, and whether there is one that
// works on all workloads. All sets are tried where they are not too many; otherwise the best
// candidates are added one by one, beginning with none. What loses nothing is known.
func (l losses) least(size int, best []int) ([]int, bool) {
	if ideal := distinct(best); size >= len(ideal) {
		return ideal, true
	}
	n := len(l[0])
	if combin.GeneralizedBinomial(float64(n), float64(size)) > mostTried {
		return l.greedy(size)
	}
	var found []int
	lowest, set := math.Inf(1), make([]int, size)
	for sets := combin.NewCombinationGenerator(n, size); sets.Next(); {
		if loss := l.of(sets.Combination(set)); loss < lowest-1e-12 {
			found, lowest = slices.Clone(set), loss
		}
	}
	return found, found != nil
}

func (l losses) greedy(size int) ([]int, bool) {
	var set []int
	for len(set) < size {
		next, fewest, lowest := -1, len(l)+1, math.Inf(1)
		for i := range l[0] {
			if slices.Contains(set, i) {
				continue
			}
			uncovered, sum := 0, 0.0
			for w := range l {
				if loss := l[w][l.best(w, append(slices.Clone(set), i))]; math.IsInf(loss, 1) {
					uncovered++
				} else {
					sum += math.Log1p(loss)
				}
			}
			if uncovered < fewest || uncovered == fewest && sum < lowest-1e-12 {
				next, fewest, lowest = i, uncovered, sum
			}
		}
		set = append(set, next)
	}
	slices.Sort(set)
	return set, !math.IsInf(l.of(set), 1)
}

// best is the candidate of a set that loses the least on a workload.
func (l losses) best(w int, set []int) int {
	return slices.MinFunc(set, func(a, b int) int { return cmp.Compare(l[w][a], l[w][b]) })
}

// of is the mean loss of a set, as a sum of logarithms over workloads.
func (l losses) of(set []int) (sum float64) {
	for w := range l {
		sum += math.Log1p(l[w][l.best(w, set)])
	}
	return sum
}

// choice describes a set: which of its points each workload gets, and what that costs.
func (p *Plan) choice(set []int, table losses, best []int) Choice {
	used := make([]int, len(table))
	for w := range table {
		used[w] = table.best(w, set)
	}
	set = distinct(used) // without points that no workload would get
	c := Choice{
		Mean:   math.Expm1(table.of(set) / float64(len(table))),
		Points: collect.Each(set, func(i int) space.Point { return p.Candidates[i].Point }),
	}
	var chosen, ideal [][][]float64
	enough := true
	for w := range p.Workloads {
		at := slices.Index(set, used[w])
		mine, _ := p.Workloads[w].contender(c.Points[at])
		other, _ := p.Workloads[w].contender(p.Candidates[best[w]].Point)
		a := Assignment{
			Workload:     p.Workloads[w].Workload,
			Point:        at,
			Milliseconds: mine.Milliseconds(),
			Loss:         table[w][set[at]],
			Best:         other.Point,
		}
		if mine.Point != other.Point { // against itself it loses nothing
			a.Interval = stats.SpeedupInterval(mine.Rounds, other.Rounds, 0.95)
			enough = enough && a.Interval.Bounded()
			if a.Interval.Bounded() {
				a.Interval.Low--
				a.Interval.High--
			}
			chosen, ideal = append(chosen, mine.Rounds), append(ideal, other.Rounds)
		}
		c.Workloads = append(c.Workloads, a)
		if a.Loss > c.Workloads[c.Worst].Loss {
			c.Worst = w
		}
	}
	c.MeanInterval = meanInterval(chosen, ideal, len(p.Workloads), enough)
	return c
}

// meanInterval is the interval of the mean loss over all workloads; those that have their
// best point lose nothing.
func meanInterval(chosen, ideal [][][]float64, workloads int, enough bool) stats.Interval {
	switch {
	case len(chosen) == 0:
		return stats.Interval{}
	case !enough:
		return stats.Unbounded()
	}
	i := stats.Bootstrap(0).MeanSpeedupInterval(chosen, ideal)
	share := float64(len(chosen)) / float64(workloads)
	return stats.Interval{Low: math.Pow(i.Low, share) - 1, High: math.Pow(i.High, share) - 1}
}
