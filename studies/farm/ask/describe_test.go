package ask

import (
	"testing"

	"pawl/space"
	"pawl/studies/farm"
)

// What a device rules out of a sample says nothing about the points that the search finds later.
func TestASampledPoolGrows(t *testing.T) {
	var values []space.Value
	for i := range int64(30) {
		values = append(values, space.IntegerValue(i))
	}
	s, err := space.New([]space.Param{
		{Name: "A", Values: values, Default: values[0]}, {Name: "B", Values: values, Default: values[0]},
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{Points: 20})
	if err != nil {
		t.Fatal(err)
	}
	description := farm.Description{Infeasible: make([]byte, 3)}
	description.Infeasible[0] = 1
	kept, err := Keep(pool, description)
	if err != nil || kept.Len() != pool.Len()-1 {
		t.Fatalf("%d of %d, %v", kept.Len(), pool.Len(), err)
	}
	growing, found := kept.Growing(), 0
	for a := range uint16(30) {
		for b := range uint16(30) {
			if _, ok := growing.Find(space.Row{a, b}); ok {
				found++
			}
		}
	}
	if found != 900-1 {
		t.Errorf("%d of 899 points", found)
	}
}
