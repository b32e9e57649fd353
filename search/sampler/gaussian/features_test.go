package gaussian

import (
	"math"
	"slices"
	"testing"

	"pawl/space"
)

func TestCoordinatesFollowTheAuthor(t *testing.T) {
	for _, test := range []struct {
		values []int64
		want   []float64
	}{
		{[]int64{16, 32, 64, 128, 256}, []float64{0, 0.25, 0.5, 0.75, 1}}, // powers of two: log
		{[]int64{16, 32, 48, 64, 80}, []float64{0, 0.25, 0.5, 0.75, 1}},   // multiples: linear
		{[]int64{0, 1, 3, 7}, []float64{0, 1.0 / 3, 2.0 / 3, 1}},          // log2(v+1) = 0, 1, 2, 3
		{[]int64{-4, 0, 4}, []float64{0, 0.5, 1}},
		{[]int64{3, 9}, []float64{0, 1}},
	} {
		got := coordinates(ordered("A", test.values...))
		for i := range got {
			if math.Abs(got[i]-test.want[i]) > 1e-12 {
				t.Errorf("a coordinate of %v is %v, want %v", test.values, got[i], test.want[i])
			}
		}
	}
	texts := space.Param{Values: []space.Value{space.TextValue("a"), space.TextValue("b"), space.TextValue("c")}}
	if got := coordinates(texts); !slices.Equal(got, []float64{0, 0.5, 1}) {
		t.Errorf("labels %v", got)
	}
}

func TestAlignments(t *testing.T) {
	for _, test := range []struct {
		values []int64
		want   []float64
	}{
		{[]int64{16, 32, 48, 64}, []float64{0, 0.5, 0, 1}}, // 2^4, 2^5, 2^4, 2^6
		{[]int64{1, 2, 3, 4}, []float64{0, 0.5, 0, 1}},
		{[]int64{0, 1, 2, 3}, []float64{1, 0, 0.5, 0}}, // 0 is one beyond 2
		{[]int64{1, 2, 4, 8}, nil},                     // grows with the value
		{[]int64{1, 3, 5}, nil},                        // all alike
	} {
		if got := Alignments(ordered("A", test.values...)); !slices.Equal(got, test.want) {
			t.Errorf("alignments of %v are %v, want %v", test.values, got, test.want)
		}
	}
	if got := Alignments(space.Param{Values: []space.Value{space.BooleanValue(false), space.BooleanValue(true)}}); got !=
		nil {
		t.Errorf("alignments of booleans are %v", got)
	}
}
