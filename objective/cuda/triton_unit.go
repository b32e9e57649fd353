package cuda

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"pawl/kernels"
	"pawl/kernels/scaffold"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/cuda/triton"
	"pawl/space"
)

// newTile describes what a compiler for tiles must know of a point: what the function is called
// with at the workload, and the constants.
func newTile(k *kernels.Kernel, w kernels.Workload, point space.Point) (*nvcc.Tile, error) {
	step := k.Launch.Steps[0]
	tile := &nvcc.Tile{Entry: step.Entry, Constants: map[string]any{}, Launch: []string{}}
	bindings, err := k.Bind(w.Dims)
	if err != nil {
		return nil, err
	}
	for i, class := range k.Specializations(bindings) {
		b := bindings[i]
		argument := nvcc.TileArgument{Name: b.Name, Type: b.Type, Divisible: class.Divisible, One: class.One}
		if b.IsBuffer() {
			argument.Type = "*" + b.Type
		}
		tile.Arguments = append(tile.Arguments, argument)
	}
	for _, a := range point.Assignments() {
		tile.Constants[a.Name] = a.Value
	}
	constants, err := k.Constants(w.Dims)
	if err != nil {
		return nil, err
	}
	for _, c := range constants {
		tile.Constants[c.Name] = json.Number(c.Value)
	}
	for _, formula := range step.Grid {
		tile.Launch = append(tile.Launch, formula.Names()...)
	}
	slices.Sort(tile.Launch)
	tile.Launch = slices.Compact(tile.Launch)
	return tile, nil
}

// DescribeTiles says which kernels a source holds: the entry, or all if it is empty. With a program it runs that, and
// says what the kernel is called with.
func DescribeTiles(ctx context.Context, getenv func(string) string,
	file, entry, program string) (scaffold.TileSource, error) {
	tool, err := triton.Find(ctx, getenv)
	if err != nil {
		return scaffold.TileSource{}, err
	}
	found, err := tool.Describe(ctx, file, entry)
	if err != nil || program == "" {
		return found, err
	}
	if len(found.Functions) != 1 {
		return found, fmt.Errorf("%s: name the kernel whose call is recorded with --entry", file)
	}
	found.Call, err = tool.Record(ctx, program, file, found.Functions[0].Name, found.Root)
	return found, err
}
