package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// PairsNeeded returns how many paired rounds a one-sided test at level alpha needs
// to see an effect with the given power:
//
//	n = ((z(1-alpha) + z(power)) · spread/effect)²
//
// rounded up, where z is the standard normal quantile. Spread is the standard
// deviation of one round's log ratio and effect the log ratio to be seen, in the
// same unit: 0.01 is about 1 %. At alpha 0.01 and power 0.9 it is 13.02 times
// (spread/effect)².
//
// The formula is for the mean of normal log ratios. Their median needs π/2 times
// as many if they are exactly normal, and no more, often fewer, with the tails that
// timings have. Below about ten pairs it is a little optimistic, because the spread
// is itself estimated. It panics unless spread >= 0, effect > 0 and alpha and power
// are in (0, 1); a number that no int holds is given as the largest that one does.
func PairsNeeded(spread, effect, alpha, power float64) int {
	if !(effect > 0) || math.IsInf(effect, 0) {
		panic(fmt.Sprintf("stats: PairsNeeded for an effect of %v", effect))
	}
	if !(spread >= 0) || math.IsInf(spread, 0) {
		panic(fmt.Sprintf("stats: PairsNeeded with a spread of %v", spread))
	}
	if !(alpha > 0 && alpha < 1) || !(power > 0 && power < 1) {
		panic(fmt.Sprintf("stats: PairsNeeded at alpha %v and power %v, not in (0, 1)", alpha, power))
	}
	// Not negative: where alpha and power together ask for less than a coin toss gives, any effect will do.
	distance := max(0, distuv.UnitNormal.Quantile(1-alpha)+distuv.UnitNormal.Quantile(power)) * spread / effect
	pairs := math.Ceil(distance * distance)
	if pairs >= math.MaxInt {
		return math.MaxInt
	}
	return max(1, int(pairs))
}

// EffectSeen is the effect that so many paired rounds see with the given power, in the unit of the
// spread: the inverse of [PairsNeeded].
func EffectSeen(spread float64, pairs int, alpha, power float64) float64 {
	distance := distuv.UnitNormal.Quantile(1-alpha) + distuv.UnitNormal.Quantile(power)
	return max(0, distance) * spread / math.Sqrt(float64(pairs))
}
