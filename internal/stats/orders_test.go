package stats

import (
	"fmt"
	"slices"
	"testing"
)

// Williams (1949): in a block each name is in each place equally often, and just after each
// other name equally often, with n rows for an even n and 2n for an odd one.
func TestOrdersAreBalanced(t *testing.T) {
	for contenders, rows := range map[int]int{1: 1, 2: 2, 3: 6, 4: 4, 5: 10, 6: 6, 7: 14} {
		orders := NewOrders(contenders, 9, 1)
		if len(orders.rows) != rows {
			t.Errorf("%d contenders: blocks of %d, want %d", contenders, len(orders.rows), rows)
		}
		for block := range 3 {
			places, follows := map[string]int{}, map[string]int{}
			for row := range rows {
				order := orders.Round(block*rows + row)
				for place, name := range order {
					places[fmt.Sprint(place, name)]++
					if place > 0 {
						follows[fmt.Sprint(order[place-1], name)]++
					}
				}
			}
			for at, n := range places {
				if n != rows/contenders || len(places) != contenders*contenders {
					t.Errorf("%d contenders: place and name %s: %d times of %d places", contenders, at, n, len(places))
				}
			}
			for pair, n := range follows {
				if n != rows/contenders || len(follows) != contenders*(contenders-1) {
					t.Errorf("%d contenders: %s follow each other %d times", contenders, pair, n)
				}
			}
		}
	}
}

// A block of three holds all six orders, and every sequence of them is as likely: each
// order is the first of its block in a sixth of the blocks.
func TestOrdersOfThreeAreAllOrders(t *testing.T) {
	firsts := map[string]int{}
	for seed := range uint64(600) {
		orders, seen := NewOrders(3, seed, 0), map[string]bool{}
		for round := range 6 {
			seen[fmt.Sprint(orders.Round(round))] = true
		}
		if len(seen) != 6 {
			t.Fatalf("seed %d: %v", seed, seen)
		}
		firsts[fmt.Sprint(orders.Round(0))]++
	}
	for order, n := range firsts {
		if n < 64 || n > 136 { // 100 of 600 are expected, and four standard deviations are 36.5
			t.Errorf("%s is first %d times", order, n)
		}
	}
	if slices.Equal(NewOrders(3, 1, 0).Round(0), NewOrders(3, 1, 1).Round(0)) &&
		slices.Equal(NewOrders(3, 1, 0).Round(1), NewOrders(3, 1, 1).Round(1)) {
		t.Error("two streams have the same orders")
	}
}
