package stats

import (
	"fmt"
	"math"
	"slices"
)

// ProbabilityBest returns for each contender the share of hierarchical bootstrap
// draws in which it had the lowest time; the shares sum to 1, and tied contenders
// split a draw. The index order is contender, process, sample.
//
// With equal numbers of processes, index i of every contender is one round. Rounds
// are drawn jointly, then the samples inside each; a contender's score is the
// median over the drawn rounds of its log time less the round's median log time
// over all contenders, so a slow round says nothing about anyone. Of two
// contenders the one that wins is the one that [Speedup] favours. With different
// numbers, processes are drawn independently and the medians over all samples
// are compared.
//
// The share answers "which would win if we measured again", not "by how much": two
// equal contenders get about a half each.
func (b Bootstrap) ProbabilityBest(contenders [][][]float64) []float64 {
	b = b.withDefaults()
	shares := make([]float64, len(contenders))
	if len(contenders) == 0 {
		return shares
	}
	paired := true
	for i, processes := range contenders {
		requireProcesses(fmt.Sprintf("Bootstrap.ProbabilityBest of contender %d", i), processes)
		paired = paired && len(processes) == len(contenders[0])
	}
	draw := pooledScores(contenders)
	if paired {
		draw = pairedScores(contenders)
	}
	random := b.source()
	scores := make([]float64, len(contenders))
	for range b.Resamples {
		draw(scores, random)
		creditLowest(scores, shares)
	}
	for i := range shares {
		shares[i] /= float64(b.Resamples)
	}
	return shares
}

// creditLowest adds one to shares, split between the contenders of lowest score.
func creditLowest(scores, shares []float64) {
	lowest, winners := slices.Min(scores), 0
	for _, score := range scores {
		if score == lowest {
			winners++
		}
	}
	for i, score := range scores {
		if score == lowest {
			shares[i] += 1 / float64(winners)
		}
	}
}

// pooledScores returns a function that draws the pooled median of each contender.
func pooledScores(contenders [][][]float64) func(scores []float64, random *source) {
	pools := make([]*pool, len(contenders))
	for i, processes := range contenders {
		pools[i] = newPool(processes)
	}
	return func(scores []float64, random *source) {
		for i, pool := range pools {
			scores[i] = pool.draw(random)
		}
	}
}

// pairedScores returns a function that draws the score of each contender over
// jointly drawn rounds.
func pairedScores(contenders [][][]float64) func(scores []float64, random *source) {
	rounds := len(contenders[0])
	tables := map[int]*medianRanks{}
	processes := make([][]process, len(contenders))
	relative := make([][]float64, len(contenders))
	for i, samples := range contenders {
		processes[i] = newProcesses(samples, tables)
		relative[i] = make([]float64, rounds)
	}
	logs, ascending := make([]float64, len(contenders)), make([]float64, len(contenders))
	return func(scores []float64, random *source) {
		for drawn := range rounds {
			round := random.index(rounds)
			for i := range processes {
				logs[i] = math.Log(processes[i][round].draw(random))
			}
			copy(ascending, logs)
			slices.Sort(ascending)
			center := medianSorted(ascending)
			for i := range logs {
				relative[i][drawn] = logs[i] - center
			}
		}
		for i := range relative {
			slices.Sort(relative[i])
			scores[i] = medianSorted(relative[i])
		}
	}
}
