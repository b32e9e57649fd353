package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"pawl/internal/thorough"
)

// threeArms returns the assignments of rounds of three processes: names 0 and 1 are the sides, 2
// is a third that is the same thing as both. Times are by place in the round.
func threeArms(orders Orders, times [][3]float64) [][]Assignment {
	all := [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	var rounds [][]Assignment
	for round, places := range times {
		real := [3]int(orders.Round(round))
		var assignments []Assignment
		for order, names := range all {
			var by [3]float64
			for place, name := range names {
				by[name] = places[place]
			}
			a := Assignment{order, by[0] - by[1]}
			if names == real {
				assignments = append([]Assignment{a}, assignments...)
			} else {
				assignments = append(assignments, a)
			}
		}
		rounds = append(rounds, assignments)
	}
	return rounds
}

// sideAt gives the side named 1 another time than the others' 0.
func sideAt(orders Orders, rounds int, time float64) [][3]float64 {
	times := make([][3]float64, rounds)
	for round := range times {
		for place, name := range orders.Round(round) {
			if name == 1 {
				times[round][place] = time
			}
		}
	}
	return times
}

// Where one side alone differs, and always, only the draws that leave it where it was have as
// large a sum: each pair of rounds that have it in one place may exchange their orders, 2^3 of
// 720 draws in a block. Both directions: 2 * 8/720 for six rounds, 2 * (8/720)^2 for twelve.
func TestSmallestValueOfPermutedBlocks(t *testing.T) {
	orders := NewOrders(3, 4, 0)
	for rounds, want := range map[int]float64{6: 2 * 8.0 / 720, 12: 2 * 8.0 / 720 * 8 / 720} {
		// With the third side at 0 as well, a swap of the sides makes the sum -time for each round that
		// has the side in its own place, and nothing else reaches it.
		got := PermutedBlocks(threeArms(orders, sideAt(orders, rounds, 1)), 6, 1)
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%d rounds: %v, want %v", rounds, got, want)
		}
	}
	// Two limits cost a factor of two.
	if got, want := PermutedBlocks(threeArms(orders, sideAt(orders, 6, 1)), 6, 1, 3),
		4*8.0/720; math.Abs(got-want) > 1e-12 {
		t.Errorf("two limits: %v, want %v", got, want)
	}
	if got := PermutedBlocks(threeArms(orders, make([][3]float64, 6)), 6, 1); got != 1 {
		t.Errorf("equal times: %v", got)
	}
}

// Two sides alone, in blocks of two: each block is one toss of a coin that decides both
// signs, so that 3 blocks have 2^3 draws, of which two are as extreme. Of the 7 rounds of
// three blocks and a half, the last is a coin of its own.
func TestPermutedBlocksOfTwoSides(t *testing.T) {
	var rounds [][]Assignment
	for range 3 {
		rounds = append(rounds, []Assignment{{0, 1}, {1, -1}}, []Assignment{{1, 1}, {0, -1}})
	}
	if got := PermutedBlocks(rounds, 2, 1); math.Abs(got-2.0/8) > 1e-12 {
		t.Errorf("%v, want 2/8", got)
	}
	rounds = append(rounds, []Assignment{{0, 1}, {1, -1}})
	if got := PermutedBlocks(rounds, 2, 1); math.Abs(got-2.0/16) > 1e-12 {
		t.Errorf("%v, want 2/16", got)
	}
}

// Whatever the machine does, p is at most a share x in at most a share x of the runs: here a
// trend inside a round, a rhythm of six processes and a heavy tail.
func TestPermutedBlocksHoldTheirLevel(t *testing.T) {
	runs := thorough.Count(500, 2000)
	below := 0
	for seed := range uint64(runs) {
		random := rand.New(rand.NewPCG(seed, 3))
		times := make([][3]float64, 12)
		for round := range times {
			for place := range times[round] {
				times[round][place] = 0.03*float64(place) + 0.1*math.Sin(math.Pi/3*float64(3*round+place)) +
					0.01*math.Tan(math.Pi*(random.Float64()-0.5))
			}
		}
		if PermutedBlocks(threeArms(NewOrders(3, seed, 0), times), 6, 0.02, 0.2) <= 0.05 {
			below++
		}
	}
	// 25 or 100 expected at most; four standard deviations are 19 and 39
	if most := thorough.Count(44, 139); below > most {
		t.Errorf("p <= 0.05 in %d of %d runs", below, runs)
	}
}
