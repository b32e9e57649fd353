package stats

import (
	"math/rand/v2"
	"slices"
)

// Orders are the orders in which contenders are measured, one for each round, from a
// seed. They come in permuted blocks: a block is a Williams square (1949) with the
// contenders' names and the rows drawn at random. In each block every contender is as often
// first, second and last as every other, and as often just after each of the others: a
// trend inside a round, or what one process leaves behind for the next, hits all alike. A
// block of two or three contenders holds all their orders once.
//
// Orders that are drawn for each round by itself are only alike in the long run, and the
// comparisons that matter have ten rounds.
type Orders struct {
	seed, stream uint64
	rows         [][]int
}

// FreshSeed draws a seed for the orders of one comparison, short enough to be typed again. It is
// all in this package that does not follow from its arguments: the same orders every day would
// be as good or bad every day.
func FreshSeed() uint64 { return 1 + rand.Uint64N(999_999_999) }

// NewOrders returns orders of 0 to contenders-1, at least one. Different streams of one seed are independent.
func NewOrders(contenders int, seed, stream uint64) Orders {
	return Orders{seed, stream, williams(contenders)}
}

// Round returns the order of a round, counted from 0, in any sequence of calls.
func (o Orders) Round(round int) []int {
	block, row := round/len(o.rows), round%len(o.rows)
	random := rand.New(rand.NewPCG(o.seed, o.stream<<32+uint64(block)))
	names, rows := random.Perm(len(o.rows[0])), random.Perm(len(o.rows))
	order := slices.Clone(o.rows[rows[row]])
	for i, name := range order {
		order[i] = names[name]
	}
	return order
}

// williams returns the rows of a Williams square, or of a square and its mirror for an odd
// number. The first row is 0, 1, n-1, 2, n-2, ..., whose neighbors differ by every number
// once; each further row adds 1.
func williams(n int) [][]int {
	first := make([]int, n)
	for i := range first {
		first[i] = (i + 1) / 2
		if i%2 == 0 {
			first[i] = (n - i/2) % n
		}
	}
	var rows [][]int
	for add := range n {
		row := make([]int, n)
		for i, name := range first {
			row[i] = (name + add) % n
		}
		rows = append(rows, row)
		if n%2 == 1 && n > 1 {
			mirror := slices.Clone(row)
			slices.Reverse(mirror)
			rows = append(rows, mirror)
		}
	}
	return rows
}
