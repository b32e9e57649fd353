package inputs

import (
	"math"
	"slices"
	"testing"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
)

// integers returns the content of an input of integers.
func integers(t *testing.T, typ, fill string, bounds *arguments.Range, row, count int64) []int64 {
	t.Helper()
	content, _ := filled(t, arguments.Binding{Name: "x", Type: typ, Count: count, Row: row,
		Values: arguments.Values{Fill: fill, Range: bounds}}, 11)
	e, err := element.Named(typ)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]int64, count)
	for i := range values {
		values[i] = e.Integer(content[i*e.Size:])
	}
	return values
}

// ranges are awkward ones of a type, its own first.
func ranges(typ string) []*arguments.Range {
	all := []*arguments.Range{nil, {Low: 0, High: 0}, {Low: 7, High: 7}, {Low: 0, High: 9}, {Low: 100, High: 126},
		{Low: 0, High: 127}, {Low: 3, High: 4}}
	e, _ := element.Named(typ)
	low, high := e.Limits()
	all = append(all, &arguments.Range{Low: low, High: low + 1}, &arguments.Range{Low: 1, High: high},
		&arguments.Range{Low: high - 2, High: high})
	if !e.Unsigned {
		all = append(all, &arguments.Range{Low: -9, High: -3}, &arguments.Range{Low: -100, High: 3})
	}
	if typ == "i64" {
		all = append(all, &arguments.Range{Low: math.MinInt64, High: math.MinInt64 + 2},
			&arguments.Range{Low: math.MaxInt64 - 1, High: math.MaxInt64},
			&arguments.Range{Low: math.MinInt64 + 1, High: math.MaxInt64}, &arguments.Range{Low: -1 << 62, High: 1 << 62})
	}
	return all
}

// Whatever the family, a declared range is kept: an index outside of it would make
// a right kernel crash.
func TestIntegersStayInTheirRange(t *testing.T) {
	for _, typ := range []string{"i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"} {
		for _, bounds := range ranges(typ)[1:] {
			for _, fill := range everyFill(typ)[2:] {
				for _, row := range []int64{1, 3, 500} {
					for i, n := range integers(t, typ, fill, bounds, row, 2000) {
						if n < bounds.Low || n > bounds.High {
							t.Fatalf("%s %s: element %d is %d, not from %d to %d", typ, fill, i, n, bounds.Low, bounds.High)
						}
					}
				}
			}
		}
	}
}

// Each family holds what it is for, over the whole range of every type.
func TestIntegerFamilies(t *testing.T) {
	const count, row = 6000, 100
	for _, typ := range []string{"i64", "i32", "u32", "u8"} {
		e, _ := element.Named(typ)
		low, high := e.Limits()
		draw := func(fill string) []int64 { return integers(t, typ, fill, nil, row, count) }
		t.Run(typ, func(t *testing.T) {
			uniform := draw(arguments.Uniform)
			below, odd := 0, 0
			for _, n := range uniform {
				if n < low+int64((uint64(high)-uint64(low))/2) {
					below++
				}
				odd += int(n & 1)
			}
			// A half of 6000, and eight standard deviations.
			if math.Abs(float64(below)-count/2) > 310 || math.Abs(float64(odd)-count/2) > 310 {
				t.Errorf("%d in the lower half, %d odd, of %d", below, odd, count)
			}
			wanted := map[string][]int64{
				arguments.Extremes: {low, low + 1, high, high - 1, max(0, low), 1},
				arguments.Powers:   {1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128},
				arguments.Small:    {0, 1, 2, 3, 4},
			}
			if low < 0 {
				wanted[arguments.Extremes] = append(wanted[arguments.Extremes], -1)
				wanted[arguments.Powers] = append(wanted[arguments.Powers], -1, -63, -64, -65, -1<<31, 1<<31-1, -1<<31+1, 1<<30,
					-1<<30)
				wanted[arguments.Small] = append(wanted[arguments.Small], -1, -2, -3, -4)
			}
			if typ == "i64" {
				wanted[arguments.Powers] = append(wanted[arguments.Powers], 1<<53, 1<<53+1, -1<<53-1, low, high, 1<<32, 1<<32-1)
			}
			for fill, values := range wanted {
				drawn := draw(fill)
				for _, n := range values {
					if !slices.Contains(drawn, n) {
						t.Errorf("%s has no %d", fill, n)
					}
				}
			}
			counts := map[int64]int{}
			for _, n := range draw(arguments.Repeated) {
				counts[n]++
			}
			most := 0
			for _, n := range counts {
				most = max(most, n)
			}
			if len(counts) < 2 || len(counts) > 5 || most < count*9/10 {
				t.Errorf("repeated has %v", counts)
			}
			rising, falling := draw(arguments.Sorted), draw(arguments.Reversed)
			for at := 0; at < count; at += row {
				if !slices.IsSorted(rising[at:at+row]) || rising[at] == rising[at+row-1] {
					t.Fatalf("sorted has the row %v", rising[at:at+row])
				}
				slices.Reverse(falling[at : at+row])
				if !slices.IsSorted(falling[at:at+row]) || falling[at] == falling[at+row-1] {
					t.Fatalf("reversed has the row %v", falling[at:at+row])
				}
			}
			bell := draw(arguments.Normal)
			inner := 0
			quarter := int64((uint64(high) - uint64(low)) / 4)
			for _, n := range bell {
				if n > low+quarter && n < high-quarter {
					inner++
				}
			}
			if inner < count*9/10 { // two standard deviations hold 95 %
				t.Errorf("%d of %d normal integers in the inner half", inner, count)
			}
		})
	}
}

// Of the largest unsigned type, whose upper half is no number of a formula, all is drawn,
// its ends included.
func TestLargeUnsignedIntegers(t *testing.T) {
	above := 0
	for _, n := range integers(t, "u64", arguments.Uniform, nil, 1, 6000) {
		if n < 0 { // the highest bit
			above++
		}
	}
	if math.Abs(float64(above)-3000) > 310 { // a half, and eight standard deviations
		t.Errorf("%d of 6000 in the upper half", above)
	}
	for fill, values := range map[string][]int64{
		arguments.Extremes: {0, 1, -1, -2}, // the last two are 2^64 - 1 and 2^64 - 2
		arguments.Powers:   {1, 1 << 32, -1 << 63, 1<<63 - 1, -1<<63 + 1},
		arguments.Small:    {0, 1, 2, 3, 4},
	} {
		drawn := integers(t, "u64", fill, nil, 100, 6000)
		for _, n := range values {
			if !slices.Contains(drawn, n) {
				t.Errorf("%s has no %d", fill, uint64(n))
			}
		}
	}
}

func TestIntegersHaveNoFillOfFloats(t *testing.T) {
	for _, typ := range []string{"i64", "i32", "u8"} {
		for _, fill := range []string{arguments.Signs, arguments.Overflow, "odd"} {
			if _, err := NewRecipe(arguments.Binding{Name: "x", Type: typ, Count: 1,
				Values: arguments.Values{Fill: fill}}, 1); err == nil {
				t.Errorf("%s is filled with %s", typ, fill)
			}
		}
	}
}
