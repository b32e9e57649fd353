package simulate

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pawl/internal/thorough"
	"pawl/search/replay"
	"pawl/search/sampler"
	"pawl/space"
)

var productSeeds = flag.Int("product-seeds", 1, "how many searches of each product of recorded spaces")

// product is a space whose points are one point of each of several recorded spaces, as of a program
// that launches several kernels. Its time is the sum of the parts' times, each in units of its own
// optimum, so that the optimum is known, and a point fails where a part does.
type product struct {
	parts []*Recorded
	pool  *space.Pool
}

func newProduct(t testing.TB, files ...string) product {
	var p product
	var params []space.Param
	for i, file := range files {
		r, err := readRecorded(file)
		if err != nil {
			t.Fatal(err)
		}
		p.parts = append(p.parts, r)
		for _, param := range r.space.Space().Params() {
			param.Name = fmt.Sprintf("%s_%d", param.Name, i)
			params = append(params, param)
		}
	}
	whole, err := space.New(params, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := whole.Pool(space.PoolOptions{Points: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	p.pool, err = all.Filter(func(point space.Point) bool {
		row, err := whole.Row(point)
		return err == nil && p.split(row) != nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// split returns the entries of a row's parts, nil where one of them was not recorded.
func (p product) split(row space.Row) []replay.Entry {
	var entries []replay.Entry
	for _, part := range p.parts {
		width := len(part.space.Space().Params())
		index, ok := part.space.Pool().Find(row[:width])
		if !ok {
			return nil
		}
		entries = append(entries, part.space.Entry(index))
		row = row[width:]
	}
	return entries
}

func (p product) points() float64 {
	points := 1.0
	for _, part := range p.parts {
		points *= float64(part.space.Pool().Len())
	}
	return points
}

func (p product) observe(index int, row space.Row) sampler.Observation {
	o := sampler.Observation{Index: index}
	for i, entry := range p.split(row) {
		o.Failed = o.Failed || !entry.OK()
		o.Milliseconds += entry.Milliseconds / p.parts[i].optimum() / float64(len(p.parts))
	}
	return o
}

// reach returns the fractions of the optimum after some numbers of trials.
func (p product) reach(t testing.TB, name string, pool *space.Pool, seed uint64, budgets []int) []float64 {
	chooser, err := sampler.New(name, pool.Space(), sampler.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	view := sampler.NewView(pool)
	var reached []float64
	for trial := range slices.Max(budgets) {
		index := pool.Keep(chooser.Next(view, rand.New(rand.NewPCG(seed, uint64(trial)))))
		pool.Forget()
		view.Ask(index)
		view.Observe(p.observe(index, pool.Row(index)))
		if slices.Contains(budgets, trial+1) {
			best := 1e9
			for _, o := range view.Observations {
				if !o.Failed {
					best = min(best, o.Milliseconds)
				}
			}
			reached = append(reached, 1/best)
		}
	}
	return reached
}

// A search of a product of recorded spaces, too large to be enumerated, leaves the sample that it
// begins with. docs/search.md has the table.
func TestProducts(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	budgets := []int{25, 50, 100}
	for _, files := range thorough.Some([][]string{
		{"sgemm-h200", "hotspot-h200"},
		{"sgemm-h200", "nbody-h200", "hotspot-h200"},
	}, 1) {
		var paths []string
		for _, name := range files {
			paths = append(paths, "../../docs/spaces/"+name+".json.gz")
		}
		p := newProduct(t, paths...)
		if p.pool.Complete() {
			t.Fatalf("%v: the pool is complete", files)
		}
		mean := func(name string, pool func() *space.Pool) []float64 {
			sums := make([]float64, len(budgets))
			for seed := range uint64(*productSeeds) {
				for i, fraction := range p.reach(t, name, pool(), 50000+seed, budgets) {
					sums[i] += fraction / float64(*productSeeds)
				}
			}
			return sums
		}
		sample := func() *space.Pool { return p.pool }
		random, fixed, growing := mean("random", sample), mean("auto", sample), mean("auto", p.pool.Growing)
		t.Logf("%v, %.2g points, %d of them in the sample: at %v random %.3f, auto in the sample %.3f, auto %.3f", files,
			p.points(), p.pool.Len(), budgets, random, fixed, growing)
		if last := len(budgets) - 1; growing[last] < 0.9 || growing[last] < fixed[last] {
			t.Errorf("%v: %.3f of the optimum, %.3f in the sample", files, growing[last], fixed[last])
		}
	}
}
