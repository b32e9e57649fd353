package check

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"pawl/space"
)

// Notes are what was seen of points that is no failure but worth a sentence. The zero
// Notes is ready.
type Notes struct {
	mu      sync.Mutex
	byPoint map[space.Point]string
}

// repeated notes when two runs on the same inputs gave different bits, both
// within the tolerance: the result depends on the scheduling of threads.
func (n *Notes) repeated(point space.Point, c Case, first, second [][]byte) {
	if first != nil && !slices.EqualFunc(first, second, bytes.Equal) {
		n.differs(point, c)
	}
}

func (n *Notes) differs(point space.Point, c Case) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byPoint == nil {
		n.byPoint = map[space.Point]string{}
	}
	if n.byPoint[point] == "" {
		n.byPoint[point] = fmt.Sprintf("two runs on the same inputs differ within the tolerance, first seen with %s: the order of its sums depends on the scheduling, or it has a race", c)
	}
}

// Of returns what was noticed about a point, or nothing.
func (n *Notes) Of(point space.Point) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.byPoint[point]
}
