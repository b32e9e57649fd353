package check

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"pawl/objective/worker"
	"pawl/space"
)

// Notes are what was seen of points that is no failure but worth a sentence. The zero
// Notes is ready. Its methods may be called at the same time.
type Notes struct {
	mu      sync.Mutex
	byPoint map[space.Point]*noted
}

// noted is what was seen of a point.
type noted struct {
	differs, mode string
	biased        string
	bias          float64 // the largest, either sign
	repeats       int     // how many cases were run twice in one process
	leaked        int64   // bytes that the second run left allocated, the least of all cases
}

// fewestRepeats is how many cases must all leak before it is said: threads that come and go change
// what is allocated too.
const fewestRepeats = 3

// repeated notes what two runs on the same inputs tell: whether they gave different bits, both
// within the tolerance, and what the second left behind. A first run may allocate what later ones
// use.
func (n *Notes) repeated(point space.Point, c Case, first, second worker.Result) {
	if !slices.EqualFunc(first.Outputs, second.Outputs, bytes.Equal) {
		n.differs(point, c)
	}
	n.at(point, func(seen *noted) {
		leaked := second.Heap - first.Heap
		if seen.repeats++; seen.repeats == 1 || leaked < seen.leaked {
			seen.leaked = leaked
		}
		if second.Mode != "" {
			seen.mode = second.Mode
		}
	})
}

func (n *Notes) differs(point space.Point, c Case) {
	n.at(point, func(seen *noted) {
		if seen.differs == "" {
			seen.differs = fmt.Sprintf("two runs on the same inputs differ within the tolerance, first seen with %s: the order "+
				"of its sums depends on the scheduling, or it has a race", c)
		}
	})
}

// leastBias is the mean error, as a share of what is allowed, that no rounding explains.
const leastBias = 0.5

// biased notes that errors of an output do not cancel: a mean says what the worst does not.
func (n *Notes) biased(point space.Point, c Case, output string, mean float64) {
	if math.Abs(mean) < leastBias {
		return
	}
	n.at(point, func(seen *noted) {
		if math.Abs(mean) > seen.bias {
			seen.bias = math.Abs(mean)
			seen.biased = fmt.Sprintf("the errors of %s are systematic: on average %+.0f %% of the tolerance, with %s", output,
				100*mean, c)
		}
	})
}

func (n *Notes) at(point space.Point, see func(*noted)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byPoint == nil {
		n.byPoint = map[space.Point]*noted{}
	}
	if n.byPoint[point] == nil {
		n.byPoint[point] = &noted{}
	}
	see(n.byPoint[point])
}

// Of returns what was noticed about a point, or nothing.
func (n *Notes) Of(point space.Point) string {
	var sentences []string
	n.at(point, func(seen *noted) {
		if seen.differs != "" {
			sentences = append(sentences, seen.differs)
		}
		if seen.biased != "" {
			sentences = append(sentences, seen.biased)
		}
		if seen.repeats >= fewestRepeats && seen.leaked > 0 {
			sentences = append(sentences, fmt.Sprintf("every launch leaves memory allocated, %d bytes or more", seen.leaked))
		}
		if seen.mode != "" {
			sentences = append(sentences, "it changes the floating-point mode of its caller's thread: "+seen.mode)
		}
	})
	return strings.Join(sentences, ". ")
}
