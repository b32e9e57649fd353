package gaussian

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Classifier is the probability that a point works, learned from labels, 1 for works
// and -1 for fails: a process over the labels, squashed to a probability
// (least-squares classification, Rasmussen and Williams 2006, section 6.5). A nil
// Classifier takes every point to work.
type Classifier struct {
	process *Process
	blur    float64
	scratch []float64
}

// NewClassifier conditions a process on labels. The process is the classifier's until its next use.
func NewClassifier(shape Shape, process *Process, labels []float64) *Classifier {
	process.Condition(labels)
	return &Classifier{process: process, blur: shape.settings.LabelBlur, scratch: make([]float64, len(labels))}
}

// LogProbability returns the logarithm of the probability that a point works.
// The variance is bounded by what the nearest observation leaves: the exact one
// would cost a triangular solve and change little.
func (c *Classifier) LogProbability(values []uint16) float64 {
	if c == nil {
		return 0
	}
	nearest := c.process.correlations(values, c.scratch)
	mean := c.process.mean + floats.Dot(c.process.weights, c.scratch)
	deviation := c.process.deviation(nearest * nearest / (1 + c.process.noise))
	z := mean / math.Sqrt(deviation*deviation+c.blur)
	return math.Log(math.Erfc(-max(z, -8)/math.Sqrt2) / 2)
}
