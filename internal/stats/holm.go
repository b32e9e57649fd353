package stats

import "slices"

// HolmLevels returns the level that each p-value of a family must reach, so that the chance of
// one false rejection among all of them is at most alarm, whatever they have in common (Holm
// 1979). The smallest must reach alarm over their number, each further one alarm over the
// number of those that are left; after the first that does not, none does.
func HolmLevels(chances []float64, alarm float64) []float64 {
	ascending := make([]int, len(chances))
	for i := range ascending {
		ascending[i] = i
	}
	slices.SortStableFunc(ascending, func(a, b int) int {
		switch {
		case chances[a] < chances[b]:
			return -1
		case chances[a] > chances[b]:
			return 1
		}
		return 0
	})
	levels := make([]float64, len(chances))
	rejecting, level := true, 0.0
	for done, i := range ascending {
		if rejecting {
			level = alarm / float64(len(chances)-done)
			rejecting = chances[i] <= level
		}
		levels[i] = level
	}
	return levels
}
