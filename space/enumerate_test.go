package space

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// matrixProduct is a Cartesian product of 82,944 with ten parameters: a blocked
// matrix product in which threads, vectors and staging must divide the blocks.
func matrixProduct(t testing.TB) *Space {
	return mustBuild(t, []Param{
		integers("BLOCK_M", 16, 32, 64, 128), integers("BLOCK_N", 16, 32, 64, 128),
		integers("THREADS_M", 8, 16, 32), integers("THREADS_N", 8, 16, 32),
		integers("LOAD_M", 8, 16, 32), integers("LOAD_N", 8, 16, 32),
		integers("VECTOR_M", 1, 2, 4, 8), integers("VECTOR_N", 1, 2, 4, 8),
		switches("STAGE_A"), switches("STAGE_B"),
	},
		"BLOCK_M % (THREADS_M * VECTOR_M) == 0",
		"BLOCK_N % (THREADS_N * VECTOR_N) == 0",
		"BLOCK_M % (LOAD_M * VECTOR_M) == 0",
		"BLOCK_N % (LOAD_N * VECTOR_N) == 0",
		"THREADS_M * THREADS_N % LOAD_M == 0",
		"THREADS_M * THREADS_N % LOAD_N == 0",
		"THREADS_M * THREADS_N <= 1024",
	)
}

// stencil is a Cartesian product of 22,020,096 with eleven parameters and a dozen
// constraints: a stencil with blocking in space and time.
func stencil(t testing.TB) *Space {
	return mustBuild(t, []Param{
		integers("BLOCK_X", 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 512),
		integers("BLOCK_Y", 1, 2, 4, 8, 16, 32, 64, 128),
		integers("TILE_X", 1, 2, 3, 4, 5, 6, 7, 8), integers("TILE_Y", 1, 2, 3, 4, 5, 6, 7, 8),
		integers("STEPS", 1, 2, 3, 4, 6, 8, 10, 12), integers("UNROLL", 1, 2, 3, 4, 6, 8),
		integers("VECTOR", 1, 2, 4, 8), integers("BLOCKS", 1, 2),
		switches("SHARED"), switches("PAD"), integers("STAGES", 1, 2),
	},
		"BLOCK_X * BLOCK_Y >= 64 || TILE_X * TILE_Y <= 16",
		"BLOCK_X * BLOCK_Y <= 1024",
		"BLOCK_X * BLOCK_Y % 32 == 0",
		"BLOCK_X * TILE_X >= STEPS",
		"BLOCK_Y * TILE_Y >= STEPS",
		"STEPS % UNROLL == 0",
		"TILE_X % VECTOR == 0 || VECTOR == 1",
		"!PAD || SHARED",
		"SHARED || STAGES == 1",
		"TILE_X * TILE_Y <= 32",
		"BLOCKS * BLOCK_X * BLOCK_Y <= 1024",
		"!SHARED || (BLOCK_X * TILE_X + 2 * STEPS) * (BLOCK_Y * TILE_Y + 2 * STEPS) * 4 * STAGES <= 98304",
	)
}

// The numbers of valid points come from plain loops over all combinations,
// outside this program.
func TestTypicalSpacesHaveTheirNumberOfPoints(t *testing.T) {
	for name, c := range map[string]struct {
		space   *Space
		product float64
		valid   int
	}{
		"matrix product": {matrixProduct(t), 82_944, 21_316},
		"stencil":        {stencil(t), 22_020_096, 422_835},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.space.Product(); got != c.product {
				t.Errorf("product %.0f, want %.0f", got, c.product)
			}
			if got := mustPool(t, c.space).Len(); got != c.valid {
				t.Errorf("%d valid points, want %d", got, c.valid)
			}
		})
	}
}

func BenchmarkPoolMatrixProduct(b *testing.B) {
	s := matrixProduct(b)
	for b.Loop() {
		mustPool(b, s)
	}
}

func BenchmarkPoolStencil(b *testing.B) {
	s := stencil(b)
	for b.Loop() {
		mustPool(b, s)
	}
}

// rare is a space of 10¹² points with a condition that hardly any satisfies and that
// no table holds the answers to.
func rare(t *testing.T) *Space {
	t.Helper()
	var params []Param
	for _, name := range []string{"A", "B", "C", "D"} {
		p := Param{Name: name, Ordered: true}
		for v := range int64(1000) {
			p.Values = append(p.Values, IntegerValue(v))
		}
		p.Default = p.Values[0]
		params = append(params, p)
	}
	return mustBuild(t, params, "(A * 7919 + B * 104729 + C * 1299709 + D * 15485863) % 1000003 == 0")
}

// The work is bounded by what it costs, not by the number of branches alone: an
// expression that is evaluated at every branch costs as much as fifty of them.
func TestRareSpaceIsGivenUpByItsCost(t *testing.T) {
	s := rare(t)
	c := newChecker(s)
	evaluated := 0
	complete := c.walk(1_000_000, func(Row) bool { evaluated++; return true })
	if complete || c.err != nil {
		t.Errorf("%v, %v", complete, c.err)
	}
	if c.turns > 1_000_000/evaluationCost+2000 {
		t.Errorf("%d branches with an evaluation each for the price of 1,000,000", c.turns)
	}
	pool, err := s.Pool(PoolOptions{Branches: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Pool(PoolOptions{Branches: 1_000_000})
	if err != nil || again.Len() != pool.Len() || pool.Complete() {
		t.Errorf("%v: %d points, then %d", err, pool.Len(), again.Len())
	}
}

func TestPoolStopsWhenNobodyWaits(t *testing.T) {
	done := make(chan struct{})
	close(done)
	if _, err := rare(t).Pool(PoolOptions{Done: done}); !errors.Is(err, ErrStopped) {
		t.Errorf("got %v", err)
	}
	// Each of the three ways to look for points heeds it.
	for name, look := range map[string]func(*checker){
		"walk":    func(c *checker) { c.walk(1<<30, func(Row) bool { return true }) },
		"sample":  func(c *checker) { c.sample(100, 1<<30, rand.New(rand.NewPCG(1, 2))) },
		"descend": func(c *checker) { c.descend(rowSet{}, 100, 1<<30, rand.New(rand.NewPCG(1, 2))) },
	} {
		c := newChecker(rare(t))
		c.done = done
		if look(c); !errors.Is(c.err, ErrStopped) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}
