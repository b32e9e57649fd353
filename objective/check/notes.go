package check

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"pawl/space"
)

// Notes are what was seen of points that is no failure but worth a sentence. The zero
// Notes is ready. Its methods may be called at the same time.
type Notes struct{ byPoint sync.Map }

// repeated notes when two runs on the same inputs gave different bits, both
// within the tolerance: the result depends on the scheduling of threads.
func (n *Notes) repeated(point space.Point, c Case, first, second [][]byte) {
	if first != nil && !slices.EqualFunc(first, second, bytes.Equal) {
		n.differs(point, c)
	}
}

func (n *Notes) differs(point space.Point, c Case) {
	n.byPoint.LoadOrStore(point, fmt.Sprintf("two runs on the same inputs differ within the tolerance, first seen with %s: the order of its sums depends on the scheduling, or it has a race", c))
}

// Of returns what was noticed about a point, or nothing.
func (n *Notes) Of(point space.Point) string {
	note, _ := n.byPoint.Load(point)
	text, _ := note.(string)
	return text
}
