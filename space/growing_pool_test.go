package space

import (
	"slices"
	"testing"
)

// sampled is a pool with few of the points of a space: A and B from 0 to 29, A + B even.
func sampled(t *testing.T) *Pool {
	t.Helper()
	var values []int64
	for i := range int64(30) {
		values = append(values, i)
	}
	s := mustBuild(t, []Param{integers("A", values...), integers("B", values...)}, "(A + B) % 2 == 0")
	p, err := s.Pool(PoolOptions{Points: 20})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAGrowingPoolFindsWhatItsSampleLacks(t *testing.T) {
	p := sampled(t)
	if p.Complete() || p.Len() != 20 {
		t.Fatalf("%d points, complete: %v", p.Len(), p.Complete())
	}
	filtered, err := p.Filter(func(point Point) bool { a, _ := point.Get("A"); return a.Integer() != 7 })
	if err != nil {
		t.Fatal(err)
	}
	g := filtered.Growing()
	found := 0
	for a := range uint16(30) {
		for b := range uint16(30) {
			row := Row{a, b}
			i, ok := g.Find(row)
			if want := (a+b)%2 == 0 && a != 7; ok != want {
				t.Fatalf("%v: found %v", row, ok)
			} else if !ok {
				continue
			}
			found++
			if again, _ := g.Find(row); again != i || !slices.Equal(g.Row(i), row) {
				t.Errorf("%v is at %d and %d, %v", row, i, again, g.Row(i))
			}
		}
	}
	if found != 450-15 || g.Len() != filtered.Len() {
		t.Errorf("%d found, %d counted of %d", found, g.Len(), filtered.Len())
	}
	if _, ok := filtered.Find(Row{29, 29}); ok && !slices.Contains(rowsOf(filtered), "29,29") {
		t.Error("the pool itself has grown")
	}
}

// rowsOf lists a pool's rows of two positions.
func rowsOf(p *Pool) (texts []string) {
	for i := range p.Len() {
		texts = append(texts, IntegerValue(int64(p.Row(i)[0])).String()+","+IntegerValue(int64(p.Row(i)[1])).String())
	}
	return texts
}

func TestWhatAGrowingPoolKeeps(t *testing.T) {
	g := sampled(t).Growing()
	var outside []Row
	for a := uint16(0); len(outside) < 3; a++ {
		if row := (Row{a, a}); !slices.Contains(rowsOf(g),
			IntegerValue(int64(a)).String()+","+IntegerValue(int64(a)).String()) {
			outside = append(outside, row)
		}
	}
	first, _ := g.Find(outside[0])
	second, _ := g.Find(outside[1])
	if g.Compare(first, second) >= 0 || g.Compare(second, first) <= 0 || g.Compare(0, 1) >= 0 ||
		g.Compare(first, first) != 0 {
		t.Error("not in the order of rows")
	}
	kept := g.Keep(second)
	if kept != g.Len() || g.Keep(kept) != kept || g.Keep(3) != 3 {
		t.Errorf("kept at %d", kept)
	}
	g.Forget()
	if i, _ := g.Find(outside[1]); i != kept || !slices.Equal(g.Row(kept), outside[1]) {
		t.Errorf("kept at %d, found at %d", kept, i)
	}
	// What was not kept comes again, where nobody relies on its old place.
	if third, ok := g.Find(outside[2]); !ok || third != first {
		t.Errorf("%d, %d", first, third)
	}
	complete, err := g.Space().Pool(PoolOptions{})
	if err != nil || complete.Growing() != complete {
		t.Errorf("a complete pool grows: %v", err)
	}
	complete.Forget()
}
