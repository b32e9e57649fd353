package check

import (
	"bytes"
	"fmt"
	"math"

	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
)

// BlindError says that the check cannot tell the right answer from a result that takes no work: such a kernel would
// pass, and win. It is a fault of the manifest, not of a point.
type BlindError struct {
	Case   Case
	Result string // what would pass
	Reason string // why, and what to do
}

func (e *BlindError) Error() string { return e.Finding() + "; " + e.Reason }

// Finding is what would pass.
func (e *BlindError) Finding() string {
	return fmt.Sprintf("the check is blind at %s: %s would pass", e.Case.Dims, e.Result)
}

// largestCopy bounds the inputs that are drawn to compare them with an answer, in bytes.
const largestCopy = 256 << 20

// Blind returns an error where a result without work is within the tolerance of an output's right answer, and is not
// the right answer: zeros, the answer to other inputs, a copy of an input, the sum of inputs, the mean of the output.
// Each output is judged by itself, and so is each element: where more than half of an output's would pass, there is no
// verdict either. Other is what the same kernel wrote for another seed; nil where there is none. Same is how the right
// answer says nothing about inputs: all of it is zeros, or the same as for others. Note says how many elements would
// pass; empty for hardly any.
func (o *Outputs) Blind(c Case, other *Outputs) (same, note string, err error) {
	if _, err := o.answer.Compare(o.answer.want); err != nil {
		return "", "", err // the reference itself
	}
	zeros, others := true, other != nil
	for i, output := range o.answer.kernel.Arguments.Outputs() {
		guesses, err := o.guesses(c, i, other)
		if err != nil {
			return "", "", err
		}
		blind := make([]bool, len(o.answer.want[i])/output.Element.Size)
		most, mostName := 0, ""
		for _, g := range guesses {
			passing, exact := o.answer.passing(i, g.content, blind)
			if passing == len(blind) && exact < passing {
				return "", "", o.blind(c, i, "a kernel that "+g.does)
			}
			zeros = zeros && (g.kind != guessedZeros || exact == len(blind))
			others = others && (g.kind != guessedOther || exact == len(blind))
			if passing-exact > most {
				most, mostName = passing-exact, g.does
			}
		}
		count := 0
		for _, b := range blind {
			if b {
				count++
			}
		}
		share := float64(count) / float64(max(len(blind), 1))
		if share > mostBlind && output.Element.Size >= shortest {
			return "", "", o.blind(c, i, fmt.Sprintf("for %.0f %% of %s a kernel that %s or the like", 100*share, output.Name,
				mostName))
		}
		if share > shownBlind {
			note = fmt.Sprintf("the tolerance is so wide that %.0f %% of %s are no evidence: one that %s or the like would "+
				"pass there", 100*share, output.Name, mostName)
		}
	}
	switch {
	case zeros:
		same = "zeros"
	case others && len(o.answer.kernel.Arguments.Drawn()) > 0:
		same = "the same"
	}
	return same, note, nil
}

const (
	// mostBlind is the share of an output's elements that may be no evidence. Of elements of one and two bytes it is only
	// said: averages of many numbers, as attention computes, are small beside the steps of such types around 1, and a
	// tolerance knows no sizes. The cases with few numbers, and those with large ones, are their evidence.
	mostBlind = 0.5
	shortest  = 4 // bytes of an element that the limit is for
	// shownBlind is the share from which on it is said.
	shownBlind = 0.02
)

// guess is the content of an output that takes no work.
type guess struct {
	kind    guessKind
	does    string // what the kernel does
	content []byte
}

type guessKind int

const (
	guessedZeros guessKind = iota
	guessedOther
	guessedInput // a copy of one, or a sum
	guessedMean
)

// guesses are what an output is compared with.
func (o *Outputs) guesses(c Case, output int, other *Outputs) ([]guess, error) {
	want := o.answer.want[output]
	all := []guess{{guessedZeros, "writes zeros", make([]byte, len(want))}}
	if other != nil && len(other.answer.want[output]) == len(want) {
		all = append(all, guess{guessedOther, "never reads its inputs", other.answer.want[output]})
	}
	copies, err := o.copies(c, output)
	if err != nil {
		return nil, err
	}
	all = append(all, copies...)
	e := o.answer.kernel.Arguments.Outputs()[output].Element
	if !e.Float || len(want) <= e.Size {
		return all, nil
	}
	mean, sum, even := 0.0, make([]float64, len(want)/e.Size), make([]float64, len(want)/e.Size)
	for i := range sum {
		mean += e.Load(want[i*e.Size:]) / float64(len(sum))
		for _, copied := range copies {
			sum[i] += e.Load(copied.content[i*e.Size:])
		}
	}
	for i := range even {
		even[i] = mean
	}
	stored := func(values []float64) []byte {
		content := make([]byte, len(want))
		e.StoreAll(content, values)
		return content
	}
	all = append(all, guess{guessedMean, "writes the mean of all results", stored(even)})
	if len(copies) > 1 {
		all = append(all, guess{guessedInput, "adds its inputs", stored(sum)})
	}
	return all, nil
}

// passing counts the elements of a guess that are within the tolerance, and those of them that are the right answer
// itself. It marks the others of them.
func (a Answer) passing(output int, content []byte, mark []bool) (passing, exact int) {
	argument, want, bound := a.kernel.Arguments.Outputs()[output], a.want[output], a.bounds[output]
	size := argument.Element.Size
	for i := range mark {
		got, right := content[i*size:][:size], want[i*size:][:size]
		x, reference := argument.Element.Load(got), argument.Element.Load(right)
		switch {
		case bytes.Equal(got, right) || argument.Element.Float && x == reference:
			passing, exact = passing+1, exact+1
		case argument.Element.Float && math.Abs(x-reference) <= bound.Absolute+bound.Relative*math.Abs(reference):
			passing++
			mark[i] = true
		}
	}
	return passing, exact
}

// copies are the inputs of an output's type and size.
func (o *Outputs) copies(c Case, at int) (copies []guess, err error) {
	source := inputs.Source{Folder: o.answer.kernel.Dir}
	output, size := o.answer.kernel.Arguments.Outputs()[at], len(o.answer.want[at])
	for _, b := range o.arguments {
		filled := b.IsBuffer() && !b.Scratch && (!b.Out || b.Restored)
		if !filled || b.Fields != nil || b.Type != output.Element.Name || b.Bytes() != size || size > largestCopy {
			continue
		}
		content := make([]byte, size)
		if err := source.Fill(content, b, c.Seed); err != nil {
			return nil, err
		}
		copies = append(copies, guess{guessedInput, "copies " + b.Name, content})
	}
	return copies, nil
}

// blind is the error for a result of an output that passes.
func (o *Outputs) blind(c Case, i int, result string) error {
	output := o.answer.kernel.Arguments.Outputs()[i]
	size := rootMeanSquare(o.answer, i)
	bound, typical := o.answer.bounds[i], arguments.Typical[output.Element.Name]
	advice := fmt.Sprintf("state a tolerance that fits, such as {atol: %.1g, rtol: %g}", size*typical.Absolute,
		typical.Relative)
	if size*typical.Absolute > 0.9*bound.Absolute && typical.Relative >= bound.Relative { // that is no tighter
		advice = "give the inputs values for which the right answer differs from that (fill, range)"
	}
	return &BlindError{c, result, fmt.Sprintf("values of %s are about %.2g, and the tolerance is atol %.2g and rtol "+
		"%.2g: %s", output.Name, size, bound.Absolute, bound.Relative, advice)}
}

// rootMeanSquare is the size of the values of an output.
func rootMeanSquare(a Answer, i int) float64 {
	e, sum := a.kernel.Arguments.Outputs()[i].Element, 0.0
	for at := 0; at < len(a.want[i]); at += e.Size {
		x := e.Load(a.want[i][at:])
		sum += x * x
	}
	return math.Sqrt(sum / float64(max(len(a.want[i])/e.Size, 1)))
}
