package inputs

import (
	"fmt"
	"math"
	"math/bits"
	"runtime"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/space"
)

// Try says what is wrong with the formula of an input at any of its elements; nil for an
// input without one. It comes before a worker is asked to fill it: what goes wrong in a
// process that a kernel has run in is taken for the kernel's doing.
func Try(argument arguments.Binding, seed uint64) error {
	for _, f := range argument.Fields {
		if err := Try(f.Binding, seed); err != nil {
			return err
		}
	}
	if argument.Content == nil || argument.Content.Kind != arguments.FormulaFill {
		return nil
	}
	element := argument.Element()
	formula, err := argument.Content.Indexed(element)
	if err == nil {
		err = evaluate(nil, int(argument.Count), element, formula, newStream(seed, argument.Name))
	}
	if err != nil {
		return fmt.Errorf("argument %s: %w; fix the formula, or exclude such sizes with domain", argument.Name, err)
	}
	return nil
}

// evaluate computes every element by a formula, on all cores; it writes nothing where there
// is no buffer.
func evaluate(buffer []byte, total int, element element.Type, formula *space.Indexed, s stream) error {
	failures := make([]error, runtime.GOMAXPROCS(0))
	onCores(max(1, total/block), func(lane, lanes int) {
		own := formula.Clone()
		for i := total * lane / lanes; i < total*(lane+1)/lanes && failures[lane] == nil; i++ {
			var to []byte
			if buffer != nil {
				to = buffer[i*element.Size:]
			}
			failures[lane] = element.Evaluate(own, int64(i), fraction(s.at(uint64(i))), to)
		}
	})
	first, _ := collect.First(failures, func(err error) bool { return err != nil }) // on any number of cores
	return first
}

// structure fills an input of integers, or of floats in one of a few forms, element by
// element.
func structure(buffer []byte, argument arguments.Binding, element element.Type, seed uint64) error {
	r := Recipe{Stream: uint64(newStream(seed, argument.Name)), Row: uint64(max(argument.Row, 1))}
	put := func(i int, n int64) {
		if to := buffer[i*element.Size:]; element.Float {
			element.Store(to, float64(n))
		} else {
			element.PutInteger(to, n)
		}
	}
	count := len(buffer) / element.Size
	switch argument.Content.Kind {
	case arguments.RowPointers:
		for i, n := range pointers(argument, seed) {
			put(i, n)
		}
	case arguments.Columns:
		columns(argument, seed, r, put)
	case arguments.Permutation:
		r.permute(count, argument.Fill, put)
	case arguments.OneHot:
		for i := range count {
			n := int64(0)
			if hot := r.hotColumn(argument.Fill, uint64(i)/r.Row); uint64(i)%r.Row == hot {
				n = 1
			}
			put(i, n)
		}
	case arguments.Sorted, arguments.Reversed:
		r.steps(buffer, argument, element)
	default:
		return fmt.Errorf("no fill %q for %s", argument.Fill, argument.Type)
	}
	return nil
}

// hotColumn is where a family puts the 1 of a row: at an end, or in one column for all.
func (r Recipe) hotColumn(family string, row uint64) uint64 {
	if family == arguments.Repeated {
		return r.at(0) % r.Row
	}
	if r.at(row)&1 == 0 {
		return 0
	}
	return r.Row - 1
}

// steps fills rows that stay sorted: all of a row is one number, or it is the smallest
// one up to some place and the largest from there on.
func (r Recipe) steps(buffer []byte, argument arguments.Binding, element element.Type) {
	low, high := make([]byte, element.Size), make([]byte, element.Size)
	if element.Float {
		bounds := boundsOf(argument)
		element.Store(low, bounds.Low)
		element.Store(high, bounds.High)
	} else {
		least, span := rangeOf(argument, element)
		element.PutInteger(low, least)
		element.PutInteger(high, least+int64(span))
	}
	if argument.Content.Kind == arguments.Reversed {
		low, high = high, low
	}
	for at := 0; at < len(buffer); at += element.Size {
		i := uint64(at / element.Size)
		drawn := r.at(i / r.Row)
		from := low
		switch {
		case argument.Fill == arguments.Repeated && drawn&1 == 1,
			argument.Fill != arguments.Repeated && i%r.Row >= drawn%(r.Row+1):
			from = high
		}
		copy(buffer[at:at+element.Size], from)
	}
}

// permute writes every index of a row once, in an order that the seed fixes, or in that of
// a family.
func (r Recipe) permute(count int, family string, put func(int, int64)) {
	row := int(r.Row)
	order := make([]int, row)
	for start := 0; start < count; start += row {
		for i := range order {
			order[i] = i
			if family == arguments.Reversed {
				order[i] = row - 1 - i
			}
		}
		if family == arguments.Permutation {
			stream(r.Stream).shuffle(order, start)
		}
		for i, n := range order {
			put(start+i, int64(n))
		}
	}
}

// shuffle puts numbers into an order that the stream fixes from a place on.
func (s stream) shuffle(order []int, from int) {
	for i := len(order) - 1; i > 0; i-- {
		j := s.at(uint64(from+i)) % uint64(i+1)
		order[i], order[j] = order[j], order[i]
	}
}

// pointers returns where the rows of a CSR matrix begin, and where the last one ends. Rows
// get shares of the entries: with skew s the row of rank r has a share of 1/(r+1)^s, times
// a random number from 0.5 to 1.5, and ranks are given to rows at random.
func pointers(argument arguments.Binding, seed uint64) []int64 {
	c := argument.Content
	rows := int(argument.Count) - 1
	s, skew := newStream(seed, argument.Name), c.Skew
	if argument.Fill == arguments.Skewed {
		skew = max(skew, 1.5)
	}
	weights := make([]float64, rows)
	ranks := make([]int, rows)
	for i := range ranks {
		ranks[i] = i
	}
	s.shuffle(ranks, 0)
	chosen := int(s.at(^uint64(0)) % uint64(rows))
	sum := 0.0
	for i := range weights {
		drawn := s.at(uint64(rows + i))
		switch argument.Fill {
		case arguments.EmptyRows:
			if i > 0 && i < rows-1 && drawn&1 == 1 || rows < 3 && i == chosen {
				weights[i] = 0.5 + fraction(drawn)
			}
		case arguments.OneRow:
			if i == chosen {
				weights[i] = 1
			}
		case arguments.EvenRows:
			weights[i] = 1
		default:
			weights[i] = float64((0.5 + fraction(drawn)) * math.Pow(float64(ranks[i]+1), -skew))
		}
		sum += weights[i]
	}
	if sum == 0 {
		weights[chosen], sum = 1, 1
	}
	return share(c, weights, sum, chosen)
}

// share gives rows as many entries as their weights say, none more than the longest may
// have; what is left goes to rows that have room, those with a weight first.
func share(c *arguments.Content, weights []float64, sum float64, from int) []int64 {
	starts := make([]int64, len(weights)+1)
	lengths := make([]int64, len(weights))
	passed, given, left := 0.0, int64(0), c.Total
	for i, w := range weights {
		passed += w
		until := int64(math.Round(passed / sum * float64(c.Total)))
		lengths[i] = min(max(until-given, 0), c.Longest, left)
		given = max(given, until)
		left -= lengths[i]
	}
	for _, weighted := range []bool{true, false} {
		for k := 0; k < len(weights) && left > 0; k++ {
			i := (from + k) % len(weights)
			if (weights[i] > 0) == weighted {
				more := min(left, c.Longest-lengths[i])
				lengths[i] += more
				left -= more
			}
		}
	}
	for i, n := range lengths {
		starts[i+1] = starts[i] + n
	}
	return starts
}

// columns writes the columns of a CSR matrix: rising along each row, and distinct where a
// row has no more entries than there are columns, because each has a part of the columns
// to itself. Behind the last row any column is written.
func columns(argument arguments.Binding, seed uint64, r Recipe, put func(int, int64)) {
	below := argument.Range.High + 1
	starts := pointers(*argument.Content.Rows, seed)
	for row, start := range starts[:len(starts)-1] {
		length := starts[row+1] - start
		drawn := r.at(^uint64(row))
		for j := range length {
			i := start + j
			column := part(j, length, below, r.at(uint64(i)))
			switch argument.Fill {
			case arguments.Repeated: // one column again and again, the last one often
				column = below - 1
				if drawn&1 == 1 {
					column = int64(drawn >> 1 % uint64(below))
				}
			case arguments.Extremes: // the first columns, then the last ones
				switch first := j < length/2; {
				case first && length <= below:
					column = j
				case first:
					column = 0
				case length <= below:
					column = below - (length - j)
				default:
					column = below - 1
				}
			}
			put(int(i), column)
		}
	}
	for i := starts[len(starts)-1]; i < argument.Count; i++ {
		put(int(i), int64(r.at(uint64(i))%uint64(below)))
	}
}

// part is a column for the entry of a row of so many.
func part(j, length, below int64, drawn uint64) int64 {
	// 128 bits: the product of two sizes may not fit 64.
	border := func(j int64) int64 {
		high, low := bits.Mul64(uint64(j), uint64(below))
		quotient, _ := bits.Div64(high, low, uint64(length))
		return int64(quotient)
	}
	low, high := border(j), border(j+1)
	if high <= low {
		return min(low, below-1)
	}
	return low + int64(drawn%uint64(high-low))
}
