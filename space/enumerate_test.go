package space

import "testing"

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
