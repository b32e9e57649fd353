package check

import (
	"bytes"
	"fmt"
	"math"

	"pawl/kernels/arguments"
	"pawl/objective/worker"
)

// Compare returns the first of a run's outputs that is outside its tolerance, or nil.
func (a Answer) Compare(got [][]byte) (*worker.Comparison, error) {
	for i, argument := range a.kernel.Arguments.Outputs() {
		if i >= len(got) || i >= len(a.want) {
			return nil, fmt.Errorf("output %s is missing", argument.Name)
		}
		mismatch, err := compare(argument, got[i], a.want[i], a.bounds[i], a.special)
		if mismatch != nil || err != nil {
			return mismatch, err
		}
	}
	return nil, nil
}

// compare checks a result element by element: |x - ref| <= atol + rtol*|ref|, and
// integers are equal. It returns nil where every element passes. Where special numbers are inputs, the result is
// infinite or no number where the reference is; elsewhere such a reference is a broken oracle, and an error. On a GPU
// pawl_compare does the same, in objective/cuda/support/support.cu.
func compare(argument arguments.Argument, got, want []byte, tolerance arguments.Tolerance,
	special bool) (*worker.Comparison, error) {
	if len(got) != len(want) {
		return nil, fmt.Errorf("output %s has %d bytes, the reference %d", argument.Name, len(got), len(want))
	}
	size := argument.Element.Size
	m := &worker.Comparison{Argument: argument.Name, Total: int64(len(want) / size)}
	for i := range int(m.Total) {
		x, reference := argument.Element.Load(got[i*size:]), argument.Element.Load(want[i*size:])
		finite := !math.IsNaN(reference) && !math.IsInf(reference, 0)
		if !special && argument.Element.Float && unwritten(want[i*size:][:size]) {
			return nil, &ReferenceError{fmt.Errorf("the reference does not write %s[%d]: is the shape of %s too large?",
				argument.Name, i, argument.Name)}
		}
		if !finite && !special {
			return nil, &ReferenceError{fmt.Errorf("the reference gives %v for %s[%d]: the oracle is broken", reference,
				argument.Name, i)}
		}
		deviation, allowed := math.Abs(x-reference), tolerance.Absolute+tolerance.Relative*math.Abs(reference)
		if !argument.Element.Float {
			deviation, allowed = argument.Element.Distance(got[i*size:], want[i*size:]), 0
		}
		if finite && deviation <= allowed || !finite && same(x, reference) {
			continue // written so that a NaN falls through
		}
		if math.IsNaN(deviation) {
			deviation = math.Inf(1)
		}
		if math.IsInf(deviation, 1) {
			m.NotFinite++
		}
		if m.Bad == 0 {
			m.First, m.Got, m.Want = int64(i), argument.Element.Text(got[i*size:]), argument.Element.Text(want[i*size:])
		}
		m.Bad++
		m.Worst = max(m.Worst, worker.Real(deviation))
	}
	if m.Bad == 0 {
		return nil, nil
	}
	return m, nil
}

// unwritten says that an element is as a worker leaves it where a kernel writes nothing, in the first run after a load.
func unwritten(element []byte) bool { return bytes.Count(element, []byte{0xff}) == len(element) }

// unwritten says which elements neither the kernel nor the reference writes, or nothing. First is the first run after a
// load, and last one that has failed: what looks unwritten in the first alone may be a number of an integer type.
func (a Answer) unwritten(first, last [][]byte) string {
	for i, argument := range a.kernel.Arguments.Outputs() {
		want, size := a.want[i], argument.Element.Size
		count, from := 0, 0
		for at := 0; at < len(want); at += size {
			known := argument.Element.Float || !bytes.Equal(last[i][at:at+size], want[at:at+size])
			if !known || !unwritten(want[at:at+size]) || !unwritten(first[i][at:at+size]) {
				continue
			}
			if count++; count == 1 {
				from = at / size
			}
		}
		if count > 0 {
			return fmt.Sprintf("neither the kernel nor the reference writes %d of %d elements of %s, from index %d: is its "+
				"shape too large, or does the kernel leave them as they were (inout)?", count, len(want)/size, argument.Name, from)
		}
	}
	return ""
}

// same says that both are one number, or none.
func same(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
