package devices

import (
	"context"

	"pawl/kernels/scaffold"
	"pawl/objective/cuda"
)

// DescribeTiles says which kernels a source on tiles holds: only its own compiler can read it.
func DescribeTiles(ctx context.Context, getenv func(string) string, file string) (scaffold.TileSource, error) {
	return cuda.DescribeTiles(ctx, getenv, file)
}
