package inputs

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pawl/kernels/arguments"
	"pawl/kernels/arrays"
	"pawl/kernels/element"
)

// numbers returns the content of an input of integers.
func numbers(t *testing.T, b arguments.Binding, seed uint64) []int64 {
	t.Helper()
	content, _ := filled(t, b, seed)
	e, _ := element.Named(b.Type)
	values := make([]int64, b.Count)
	for i := range values {
		values[i] = e.Integer(content[i*e.Size:])
	}
	return values
}

// matrix returns the row pointers and the columns of a CSR matrix in a family.
func matrix(t *testing.T, rows, below, total, longest int64, skew float64, family string,
	seed uint64) (starts, columns []int64) {
	t.Helper()
	p := arguments.Binding{Name: "rows", Type: "i32", Count: rows + 1, Row: rows + 1,
		Values: arguments.Values{Fill: arguments.RowPointers,
			Content: &arguments.Content{Kind: arguments.RowPointers, Total: total, Longest: longest, Skew: skew}}}
	if slices.Contains([]string{arguments.EmptyRows, arguments.OneRow, arguments.EvenRows}, family) {
		p.Fill = family
	}
	c := arguments.Binding{Name: "columns", Type: "i32", Count: total + 3, Row: total + 3,
		Values: arguments.Values{Fill: arguments.Columns,
			Range: &arguments.Range{Low: 0, High: below - 1}, Content: &arguments.Content{Kind: arguments.Columns, Rows: &p}}}
	if slices.Contains([]string{arguments.Extremes, arguments.Repeated}, family) {
		c.Fill = family
	}
	return numbers(t, p, seed), numbers(t, c, seed)
}

// Whatever the family, sizes and seed, row pointers rise from 0 to the number of entries,
// no row is longer than it may be, and columns are sorted inside of their rows and below
// the number of columns.
func TestMatricesKeepTheirStructure(t *testing.T) {
	for _, family := range []string{arguments.Declared, arguments.EmptyRows, arguments.OneRow, arguments.EvenRows,
		arguments.Extremes, arguments.Repeated} {
		for _, size := range []struct{ rows, below, total, longest int64 }{
			{1, 1, 1, 1}, {1, 5, 3, 5}, {2, 4, 8, 4}, {3, 1, 3, 1}, {7, 5, 20, 5}, {40, 9, 0, 9}, {100, 50, 700, 700},
			{100, 50, 700, 50}, {64, 10, 640, 10},
		} {
			for _, skew := range []float64{0, 1, 10} {
				starts, columns := matrix(t, size.rows, size.below, size.total, size.longest, skew, family, 9)
				if starts[0] != 0 || starts[size.rows] != size.total {
					t.Fatalf("%s of %+v: pointers from %d to %d", family, size, starts[0], starts[size.rows])
				}
				for r := range size.rows {
					row := columns[starts[r]:starts[r+1]]
					if int64(len(row)) > size.longest || !slices.IsSorted(row) {
						t.Fatalf("%s of %+v: row %d is %d", family, size, r, row)
					}
					if distinct := slices.Compact(slices.Clone(row)); family != arguments.Repeated &&
						int64(len(row)) <= size.below && len(distinct) != len(row) {
						t.Fatalf("%s of %+v: row %d repeats a column: %d", family, size, r, row)
					}
				}
				if slices.Min(columns) < 0 || slices.Max(columns) >= size.below {
					t.Fatalf("%s of %+v: columns from %d to %d", family, size, slices.Min(columns), slices.Max(columns))
				}
			}
		}
	}
}

func lengths(starts []int64) (lengths []int64) {
	for i := range starts[1:] {
		lengths = append(lengths, starts[i+1]-starts[i])
	}
	return lengths
}

// The families are what kernels get wrong.
func TestFamiliesOfMatrices(t *testing.T) {
	const rows, below, total = 50, 30, 400
	draw := func(skew float64, family string, seed uint64) ([]int64, []int64) {
		return matrix(t, rows, below, total, total, skew, family, seed)
	}
	even, _ := draw(0, arguments.EvenRows, 1)
	if l := lengths(even); slices.Min(l) != 8 || slices.Max(l) != 8 {
		t.Errorf("even rows: %d", l)
	}
	flat, _ := draw(0, arguments.Declared, 1)
	skewed, _ := draw(1.5, arguments.Declared, 1)
	// Equal shares are 8; the first of 50 rows has 1/2.6 of 400 entries where the
	// exponent is 1.5, times a random number from 0.5 to 1.5.
	if a, b := slices.Max(lengths(flat)), slices.Max(lengths(skewed)); a > 16 || b < 60 {
		t.Errorf("the longest row has %d entries without skew and %d with", a, b)
	}
	empty, _ := draw(0, arguments.EmptyRows, 1)
	none := 0
	for _, n := range lengths(empty) {
		if n == 0 {
			none++
		}
	}
	if l := lengths(empty); none < 10 || l[0] != 0 || l[rows-1] != 0 {
		t.Errorf("%d empty rows: %d", none, l)
	}
	one, _ := draw(0, arguments.OneRow, 1)
	if slices.Max(lengths(one)) != total {
		t.Errorf("no row has everything: %d", lengths(one))
	}
	_, same := draw(0, arguments.Repeated, 1)
	if !slices.Contains(same, below-1) || same[0] != same[1] {
		t.Errorf("nothing repeats: %d", same[:20])
	}
	_, ends := draw(0, arguments.Extremes, 1)
	if !slices.Contains(ends, 0) || !slices.Contains(ends, below-1) {
		t.Errorf("no ends: %d", ends[:20])
	}
	for _, family := range []string{arguments.Declared, arguments.EmptyRows, arguments.OneRow} {
		a, _ := draw(1, family, 1)
		b, _ := draw(1, family, 3)
		if slices.Equal(a, b) {
			t.Errorf("%s: another seed, the same rows", family)
		}
	}
}

func TestPermutations(t *testing.T) {
	b := arguments.Binding{
		Name:  "p",
		Type:  "u16",
		Count: 300,
		Row:   100,
		Values: arguments.Values{Fill: arguments.Permutation,
			Content: &arguments.Content{Kind: arguments.Permutation}},
	}
	first := numbers(t, b, 1)
	for _, family := range []string{arguments.Permutation, arguments.Sorted, arguments.Reversed} {
		b.Fill = family
		p := numbers(t, b, 1)
		for start := 0; start < 300; start += 100 {
			row := p[start : start+100]
			if sorted := slices.Sorted(slices.Values(row)); sorted[0] != 0 || sorted[99] != 99 ||
				len(slices.Compact(sorted)) != 100 {
				t.Errorf("%s: no permutation: %d", family, row)
			}
			if family == arguments.Sorted && !slices.IsSorted(row) || family == arguments.Reversed && row[0] != 99 {
				t.Errorf("%s: %d", family, row)
			}
		}
	}
	b.Fill = arguments.Permutation
	if slices.Equal(first, numbers(t, b, 2)) || slices.Equal(first[:100], first[100:200]) || slices.IsSorted(first[:100]) {
		t.Errorf("the seed and the row change nothing: %d", first)
	}
}

func TestSortedAndOneHotFamilies(t *testing.T) {
	for _, typ := range []string{"f32", "i32", "u8"} {
		for _, kind := range []string{arguments.Sorted, arguments.Reversed, arguments.OneHot} {
			for _, fill := range []string{kind, arguments.Extremes, arguments.Repeated} {
				b := arguments.Binding{
					Name:  "x",
					Type:  typ,
					Count: 2000,
					Row:   20,
					Values: arguments.Values{Fill: fill,
						Content: &arguments.Content{Kind: kind}},
				}
				_, values := filled(t, b, 3)
				for start := 0; start < 2000; start += 20 {
					row := slices.Clone(values[start : start+20])
					if kind == arguments.OneHot {
						if slices.Sort(row); row[19] != 1 || row[18] != 0 {
							t.Fatalf("%s %s %s: %g", typ, kind, fill, row)
						}
						continue
					}
					if kind == arguments.Reversed {
						slices.Reverse(row)
					}
					if !slices.IsSorted(row) {
						t.Fatalf("%s %s %s: %g", typ, kind, fill, row)
					}
				}
				b.Fill = fill
				if _, other := filled(t, b, 4); slices.Equal(values, other) {
					t.Errorf("%s %s %s: another seed, the same content", typ, kind, fill)
				}
			}
		}
	}
}

// Floats in a range stay in it, and reach both ends where they should.
func TestRealsStayInTheirRange(t *testing.T) {
	for _, bounds := range []arguments.Bounds{
		{Low: 0, High: 1},
		{Low: -3, High: -1},
		{Low: 250, High: 300},
		{Low: 5, High: 5},
		{Low: -1e300, High: 0.1},
	} {
		for fill := range realFills {
			b := arguments.Binding{Name: "x", Type: "f64", Count: 5000, Row: 50,
				Values: arguments.Values{Fill: fill, Bounds: &bounds}}
			_, values := filled(t, b, 3)
			if low, high := slices.Min(values), slices.Max(values); low < bounds.Low || high > bounds.High {
				t.Errorf("%s in %+v: from %g to %g", fill, bounds, low, high)
			}
			if fill == arguments.Extremes && (!slices.Contains(values, bounds.Low) || !slices.Contains(values, bounds.High)) {
				t.Errorf("%s in %+v without its ends", fill, bounds)
			}
			if fill == arguments.Sorted && !slices.IsSorted(values[:50]) {
				t.Errorf("%s in %+v: %g", fill, bounds, values[:50])
			}
		}
	}
	_, values := filled(t,
		arguments.Binding{
			Name:  "x",
			Type:  "f64",
			Count: 100_000,
			Values: arguments.Values{Fill: arguments.Uniform,
				Bounds: &arguments.Bounds{Low: 10, High: 20}},
		}, 3)
	if mean, variance, _ := moments(values); math.Abs(mean-15) > 0.1 || math.Abs(variance-100./12) > 0.2 {
		t.Errorf("mean %g, variance %g", mean, variance)
	}
}

func TestFormulas(t *testing.T) {
	b := arguments.Binding{Name: "x", Type: "f32", Count: 12, Row: 4, Values: arguments.Values{Fill: arguments.FormulaFill,
		Content: &arguments.Content{
			Kind:     arguments.FormulaFill,
			Shape:    []int64{3, 4},
			Formula:  "i0 * N + i1 + 0.5 * (i % 2)",
			Integers: map[string]int64{"N": 100},
		}}}
	_, values := filled(t, b, 1)
	if want := []float64{0, 1.5, 2, 3.5, 100, 101.5, 102, 103.5, 200, 201.5, 202, 203.5}; !slices.Equal(values, want) {
		t.Errorf("%g, want %g", values, want)
	}
	b.Content.Formula, b.Count, b.Content.Shape = "random * N", 50_000, []int64{50_000}
	_, one := filled(t, b, 1)
	cores := runtime.GOMAXPROCS(1)
	_, alone := filled(t, b, 1)
	runtime.GOMAXPROCS(cores)
	if _, two := filled(t, b, 2); slices.Equal(one, two) || !slices.Equal(one, alone) {
		t.Error("random numbers depend on the cores, or not on the seed")
	}
	if low, high := slices.Min(one), slices.Max(one); low < 0 || high > 100 || high < 99 {
		t.Errorf("from %g to %g", low, high)
	}
	for formula, message := range map[string]string{
		"0 / (i - 30000)": "division by zero at element 30000",
		"i":               "the formula at element 256: the value 256 does not fit u8",
	} {
		b.Type, b.Content.Formula = "u8", formula
		if err := new(Source).Fill(make([]byte, b.Count), b, 1); err == nil || !strings.Contains(err.Error(), message) ||
			!strings.Contains(err.Error(), "argument x") {
			t.Errorf("%s: %v, want %q", formula, err, message)
		}
	}
}

func TestFilesAreReadAndRemembered(t *testing.T) {
	dir := t.TempDir()
	content := bytes.Repeat([]byte{1, 2, 3, 4}, 5)
	if err := os.WriteFile(filepath.Join(dir, "x.bin"), content, 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := arrays.Describe(os.DirFS(dir), "x.bin")
	if err != nil {
		t.Fatal(err)
	}
	b := arguments.Binding{
		Name:  "x",
		Type:  "f32",
		Count: 5,
		Values: arguments.Values{Fill: arguments.FromFile,
			Content: &arguments.Content{Kind: arguments.FromFile, File: &file}},
	}
	source := &Source{Folder: dir}
	got := make([]byte, 20)
	for range 2 {
		clear(got)
		if err := source.Fill(got, b, 1); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%x, %v", got, err)
		}
		if err := os.Remove(filepath.Join(dir, "x.bin")); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if err := (&Source{Folder: dir}).Fill(got, b, 1); err == nil || !strings.Contains(err.Error(), "argument x") {
		t.Errorf("a file that is gone: %v", err)
	}
}
