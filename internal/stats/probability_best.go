package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"pawl/internal/collect"
)

// A Contest is what paired rounds say about several contenders. In each round a contender
// has a log time relative to the round's middle, so that a slow round says nothing about
// anyone; its level is the median of these over the rounds, as in [Speedup].
//
// How much levels differ by chance is pooled over all contenders: three rounds of one say
// nothing about that, and three rounds of six say a little.
type Contest struct {
	// Levels are those of the contenders, as logarithms: lower is faster.
	Levels []float64
	// Error is the standard error of a level, with so many degrees of freedom.
	Error   float64
	Freedom int
}

// NewContest takes contenders, rounds and samples, in this order of indices. All contenders
// have the same number of rounds, at least one.
func NewContest(contenders [][][]float64) Contest {
	var c Contest
	rounds := 0
	logs := make([][]float64, len(contenders))
	for i, processes := range contenders {
		requireProcesses(fmt.Sprintf("NewContest of contender %d", i), processes)
		if rounds = len(contenders[0]); len(processes) != rounds {
			panic("stats: NewContest: contenders with different numbers of rounds")
		}
		for _, samples := range processes {
			logs[i] = append(logs[i], math.Log(Median(samples)))
		}
	}
	if len(contenders) == 0 {
		return c
	}
	for round := range rounds {
		middle := Median(collect.Each(logs, func(log []float64) float64 { return log[round] }))
		for i := range logs {
			logs[i][round] -= middle
		}
	}
	c.Levels = collect.Each(logs, Median)
	c.Freedom = (len(contenders) - 1) * (rounds - 1)
	if c.Freedom > 0 {
		// The error of a median is sqrt(π/2) times that of a mean of normal values.
		c.Error = math.Sqrt(math.Pi / 2 * residualSquares(logs) / float64(c.Freedom) / float64(rounds))
	}
	return c
}

// residualSquares is the sum of the squares that are left of a table without the means of its rows and columns.
func residualSquares(rows [][]float64) (sum float64) {
	columns := make([]float64, len(rows[0]))
	for j := range columns {
		for i := range rows {
			columns[j] += rows[i][j] / float64(len(rows))
		}
	}
	grand := Mean(columns)
	for i := range rows {
		mean := Mean(rows[i])
		for j, value := range rows[i] {
			sum += math.Pow(value-mean-columns[j]+grand, 2)
		}
	}
	return sum
}

// Behind reports which contenders are slower than the fastest by more than chance explains,
// at a level for all of them together.
func (c Contest) Behind(level float64) []bool {
	behind := make([]bool, len(c.Levels))
	if c.Freedom < 1 {
		return behind
	}
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(c.Freedom)}
	reach := student.Quantile(1-level/float64(len(c.Levels))) * c.Error * math.Sqrt2
	for i, level := range c.Levels {
		behind[i] = level-slices.Min(c.Levels) > reach
	}
	return behind
}

// kept is the share of the differences between levels that is no chance: what is left of
// their variance without the error's. Equal contenders differ by chance alone, and it is
// mostly 0. It is the empirical Bayes estimate of Efron and Morris (1973).
func (c Contest) kept(levels []float64) float64 {
	if len(levels) < 2 {
		return 1
	}
	_, squares := meanAndSquares(levels)
	if squares == 0 {
		return 0
	}
	return max(0, 1-c.Error*c.Error*float64(len(levels)-1)/squares)
}

// Overstated is by how much, as a log ratio, the fastest of some contenders seems faster than
// it is, because it was chosen for it on the same rounds.
func (c Contest) Overstated(contender int, among []int) float64 {
	levels := collect.Each(among, func(i int) float64 { return c.Levels[i] })
	return (1 - c.kept(levels)) * max(0, Mean(levels)-c.Levels[contender])
}

// ProbabilityBest returns for each contender the probability that it is the fastest; they sum
// to 1. Levels are taken to be normal about their true values and these about a common one,
// which keeps the winner of equal contenders from seeming sure. Contenders that are clearly
// behind say nothing about how the others differ. It says which would win if we
// measured for ever, not by how much.
func (c Contest) ProbabilityBest() []float64 {
	const draws = 10000
	shares := make([]float64, len(c.Levels))
	if len(shares) == 0 {
		return shares
	}
	behind := c.Behind(0.01)
	var near []float64
	for i, level := range c.Levels {
		if !behind[i] {
			near = append(near, level)
		}
	}
	kept, middle := c.kept(near), Mean(near)
	random := rand.New(rand.NewPCG(defaultSeed, stream))
	levels := make([]float64, len(c.Levels))
	for range draws {
		spread := c.Error
		if c.Freedom > 0 { // the error is itself an estimate
			chi := distuv.ChiSquared{K: float64(c.Freedom), Src: random}
			spread *= math.Sqrt(float64(c.Freedom) / chi.Rand())
		}
		for i, level := range c.Levels {
			share := kept
			if behind[i] {
				share = 1
			}
			levels[i] = middle + share*(level-middle) + math.Sqrt(share)*spread*random.NormFloat64()
		}
		creditLowest(levels, shares)
	}
	for i := range shares {
		shares[i] /= draws
	}
	return shares
}

// creditLowest adds one to shares, split between the contenders of the lowest level.
func creditLowest(levels, shares []float64) {
	lowest, winners := slices.Min(levels), 0
	for _, level := range levels {
		if level == lowest {
			winners++
		}
	}
	for i, level := range levels {
		if level == lowest {
			shares[i] += 1 / float64(winners)
		}
	}
}
