package gate

import (
	"math/rand/v2"
	"slices"

	"pawl/internal/collect"
	"pawl/internal/stats"
)

// The orders of a comparison are part of its test. Baseline, candidate and control come in
// permuted blocks: all six orders before one repeats. The best accepted entry, where it is
// measured, is put between them at a place that is drawn for each round alone. So the first
// three have the same design, and the same test, whether it is there or not.

// designed are the arms in permuted blocks.
var designed = []Arm{Baseline, Candidate, Control}

// blockRounds is how many rounds have all orders of the designed arms.
const blockRounds = 6

func (r *run) order(round int) []Arm {
	orders := stats.NewOrders(len(designed), r.options.Seed, r.stream)
	order := collect.Each(orders.Round(round), func(i int) Arm { return designed[i] })
	if r.options.Best {
		const places = 0x706c61636573
		random := rand.New(rand.NewPCG(r.options.Seed^places, r.stream<<32+uint64(round)))
		order = slices.Insert(order, random.IntN(len(order)+1), Best)
	}
	return order
}
