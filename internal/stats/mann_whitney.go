package stats

import (
	"errors"
	"fmt"

	moremath "github.com/aclements/go-moremath/stats"
)

// MannWhitney returns the U statistic of x against y and the two-sided p-value of
// the hypothesis that neither tends to be larger. U counts the pairs with x > y,
// ties as a half, so [CliffsDelta] is 2U/(n·m)-1.
//
// The p-value is exact up to 50 samples a side, or 25 where there are ties, and
// beyond that the normal approximation with corrections for ties and continuity.
// It is 1 where all samples are equal. It assumes independent samples: consecutive
// timings of one process are not, and on those a small p says nothing.
func MannWhitney(x, y []float64) (u, p float64) {
	x, y = sorted("MannWhitney", x), sorted("MannWhitney", y)
	pairs := float64(len(x)) * float64(len(y))
	u = (cliffsDeltaSorted(x, y) + 1) / 2 * pairs

	// go-moremath computes an upper tail as one minus the lower, which cancels to
	// 0 where the lower tail would still be a number. Handing it the lower sample
	// first keeps p the same whichever side is called x.
	if u > pairs/2 {
		x, y = y, x
	}
	result, err := moremath.MannWhitneyUTest(x, y, moremath.LocationDiffers)
	switch {
	case errors.Is(err, moremath.ErrSamplesEqual):
		return u, 1
	case err != nil:
		panic(fmt.Sprintf("stats: MannWhitney: %v", err))
	}
	// With ties the exact distribution is not symmetric, and twice its tail can exceed 1.
	return u, min(1, result.P)
}
