package space

import (
	"errors"
	"fmt"

	"pawl/internal/collect"
)

// verdict is what a constraint says about one combination of its own values.
type verdict uint8

const (
	unknown verdict = iota
	holds
	broken
)

// tableLimit is the largest number of combinations that a constraint's answers
// are remembered for. A constraint reads few parameters, so nearly all fit; the
// others are evaluated every time.
const tableLimit = 1 << 22

// checker answers constraints during one walk over the space. An evaluation
// costs about a microsecond and a walk asks the same few combinations millions
// of times, so each constraint keeps a table over its own parameters only.
type checker struct {
	space   *Space
	byDepth [][]*table // byDepth[d]: constraints whose last name is parameter d
	env     Environment
	left    int             // what the work may still cost, in branches
	done    <-chan struct{} // ends the work early; nil for never
	turns   int
	err     error // what ended the work; nothing is looked at after it
}

// What an evaluation costs in branches, each of which takes about 20 ns: one whose
// answer is remembered comes once, the others come at every branch. Counting the
// cost instead of looking at the clock gives every machine the same pool.
const (
	rememberedCost = 10
	evaluationCost = 50
)

// ErrStopped says that a pool was not finished because nobody waits for it.
var ErrStopped = errors.New("stopped while looking for valid points")

// spend takes a branch from what is left. It reports whether there was one.
func (c *checker) spend() bool {
	if c.turns++; c.turns%(1<<12) == 0 {
		select {
		case <-c.done:
			c.err = ErrStopped
		default:
		}
	}
	c.left--
	return c.left >= 0 && c.err == nil
}

type table struct {
	*constraint
	strides []int // of each position in answers
	answers []verdict
}

// newChecker returns a checker for one walk.
func newChecker(s *Space) *checker {
	c := &checker{space: s, byDepth: make([][]*table, len(s.params)), env: s.environment(s.defaultRow())}
	for _, constraint := range s.constraints {
		t := &table{constraint: constraint}
		size := 1
		for _, position := range constraint.positions {
			t.strides = append(t.strides, size)
			size *= len(s.params[position].Values)
			if size > tableLimit {
				break
			}
		}
		if size <= tableLimit {
			t.answers = make([]verdict, size)
		}
		depth := 0 // a constraint over constants alone is checked first
		if n := len(constraint.positions); n > 0 {
			depth = constraint.positions[n-1]
		}
		c.byDepth[depth] = append(c.byDepth[depth], t)
	}
	return c
}

// holds reports whether every constraint that is decided by parameter depth
// holds for the row, of which the first depth+1 positions are bound. An
// expression that fails on values which no earlier constraint has excluded is
// an error of the manifest.
func (c *checker) holds(row Row, depth int) bool {
	for _, t := range c.byDepth[depth] {
		answer := unknown
		index := 0
		if t.answers != nil {
			for i, position := range t.positions {
				index += int(row[position]) * t.strides[i]
			}
			answer = t.answers[index]
		}
		if answer == unknown {
			answer = c.evaluate(t, row)
			c.left -= evaluationCost
			if t.answers != nil {
				c.left += evaluationCost - rememberedCost
				t.answers[index] = answer
			}
		}
		if answer == broken {
			return false
		}
	}
	return true
}

// evaluate answers a constraint at its own values. Where the expression itself fails, by a division by zero for
// instance, that ends the work.
func (c *checker) evaluate(t *table, row Row) verdict {
	for _, position := range t.positions {
		p := &c.space.params[position]
		c.env[p.Name] = p.Values[row[position]].native()
	}
	ok, err := t.Bool(c.env)
	if err != nil {
		point, unnamed := NewPoint(collect.Each(t.positions, func(position int) Assignment {
			p := &c.space.params[position]
			return Assignment{p.Name, p.Values[row[position]]}
		})...)
		if unnamed != nil {
			panic("space: " + unnamed.Error())
		}
		c.err = fmt.Errorf("constraint at %s: %w", point, err)
	}
	if ok {
		return holds
	}
	return broken
}

// walk visits the valid rows in lexicographic order until visit returns false
// or the walk has cost more than the given number of branches. It reports
// whether it came to the end. The row is reused: visit must copy it.
func (c *checker) walk(branches int, visit func(Row) bool) (complete bool) {
	c.left = branches
	row := make(Row, len(c.space.params))
	last := len(row) - 1
	depth := 0
	next := make([]int, len(row)) // the value to try next, per parameter
	for depth >= 0 {
		if next[depth] == len(c.space.params[depth].Values) {
			next[depth] = 0
			depth--
			continue
		}
		if !c.spend() {
			return false
		}
		row[depth] = uint16(next[depth])
		next[depth]++
		switch {
		case !c.holds(row, depth):
			if c.err != nil {
				return false
			}
		case depth < last:
			depth++
		case !visit(row):
			return false
		}
	}
	return true
}
