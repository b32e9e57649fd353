package sampler

import (
	"slices"
	"testing"

	"pawl/space"
)

// The clock of a GPU has steps, and hundreds of points may share a time. Where the
// model has room for some of them only, the faster ones are in it, whenever they
// were observed.
func TestTheModelKeepsTheFastest(t *testing.T) {
	param := space.Param{Name: "A", Ordered: true}
	for v := range int64(1000) {
		param.Values = append(param.Values, space.IntegerValue(v))
	}
	param.Default = param.Values[0]
	s, err := space.New([]space.Param{param}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const most = 300
	for _, test := range []struct {
		name  string
		times func(i int) float64
		count int
	}{
		{"all but the last are the same", func(i int) float64 {
			if i == 999 {
				return 1
			}
			return 2
		}, 1000},
		{"a few faster ones at the end", func(i int) float64 { return 2 - 0.1*float64(max(0, i-990)) }, 1000},
		{"as many as fit", func(i int) float64 { return 2 - float64(i)*0.001 }, most},
		{"all the same", func(int) float64 { return 2 }, 1000},
	} {
		var observations []Observation
		var times []float64
		for i := range test.count {
			observations = append(observations, Observation{Index: i, Milliseconds: test.times(i)})
			times = append(times, test.times(i))
		}
		slices.Sort(times)
		data := newCommon(s, Defaults()).training(NewView(pool), observations, most)
		kept := slices.Clone(data.Values)
		slices.Sort(kept)
		if !slices.Equal(kept, times[:min(most, len(times))]) {
			t.Errorf("%s: kept %d, from %v to %v, not the %d fastest from %v", test.name, len(kept), kept[0],
				kept[len(kept)-1], most, times[0])
		}
	}
}
