package nvcc

import (
	"encoding/json"
	"strings"

	"pawl/kernels/includes"
	"pawl/objective/cache"
)

// readFiles returns the source and what it includes from its folder and from those
// that the flags add.
func readFiles(unit Unit) ([]includes.File, error) {
	scanner, err := includes.Below(unit.Dir)
	if err != nil {
		return nil, err
	}
	scanner.Flags(unit.Flags)
	for _, name := range append([]string{unit.Source}, unit.Units...) {
		if err := scanner.Add(name); err != nil {
			return nil, err
		}
	}
	return scanner.Files()
}

// key collects what the cubin depends on. It does not run the preprocessor, so
// it counts includes that a condition leaves out, and every define although the
// source may not use it: the digest of the machine code finds such points to be
// the same. The headers of the toolkit and the system are not read: the
// versions of nvcc and of its host compiler stand for them.
func (c *Compiler) key(unit Unit) (*cache.Key, error) {
	key := cache.NewKey().
		Add("backend", "cuda").
		Add("report", "with parameters").
		Add("compiler", c.Identity()).
		Add("architecture", unit.Architecture).
		Add("flags", strings.Join(unit.Flags, "\x00")).
		Add("source", unit.Source).
		Add("checks", unit.Checks)
	for _, name := range unit.Units {
		key.Add("unit", name)
	}
	for _, instance := range unit.Instances {
		key.Add("instance", instance)
	}
	if unit.Tile != nil {
		tile, err := json.Marshal(unit.Tile)
		if err != nil {
			return nil, err
		}
		key.Add("tile", string(tile))
	}
	for _, d := range unit.Defines {
		key.Add("define", d.Name+"="+d.Value)
	}
	files, err := readFiles(unit)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		key.Add(f.Name, string(f.Content))
	}
	return key, nil
}
