package objective

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"pawl/space"
)

// notes are what was seen of points that is no failure but worth a sentence.
type notes struct {
	mu      sync.Mutex
	byPoint map[space.Point]string
}

// repeated notes when two runs on the same inputs gave different bits, both
// within the tolerance: the result depends on the scheduling of threads.
func (n *notes) repeated(point space.Point, c Case, first, second [][]byte) {
	if first != nil && !slices.EqualFunc(first, second, bytes.Equal) {
		n.differs(point, c)
	}
}

func (n *notes) differs(point space.Point, c Case) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byPoint == nil {
		n.byPoint = map[space.Point]string{}
	}
	if n.byPoint[point] == "" {
		n.byPoint[point] = fmt.Sprintf("two runs on the same inputs differ within the tolerance, first seen with %s: the order of its sums depends on the scheduling, or it has a race", c)
	}
}

// Note returns what was noticed about a point beside failures, and which sizes it
// was not checked with; or nothing.
func (e *Evaluator) Note(point space.Point) string {
	e.notes.mu.Lock()
	defer e.notes.mu.Unlock()
	note, unchecked := e.notes.byPoint[point], Unchecked(e.kernel, e.workload)
	if note != "" && unchecked != "" {
		note += ". "
	}
	return note + unchecked
}
