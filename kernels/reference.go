package kernels

import (
	"path"
	"strings"

	"pawl/space"
)

// pythonKey names a reference for every backend, below reference.
const pythonKey = "python"

func isPython(file string) bool { return strings.EqualFold(path.Ext(file), ".py") }

// PythonReference says that Python computes what results are checked against, and no device.
func (k *Kernel) PythonReference() bool { return isPython(k.Reference) && !k.TileReference }

// ReferencePoint is what the reference is compiled with where it is to say what a point
// should compute: the point's values of the parameters that the result depends on. On a GPU
// a reference that is launched like the kernel also sees what the default launch is made of.
func (k *Kernel) ReferencePoint(point space.Point) space.Point {
	given := space.Point{}
	if k.On().GPU && k.Launch.Inherited {
		given = k.initial
	}
	for _, name := range k.ReferenceParams {
		value, known := point.Get(name)
		if !known {
			value, _ = k.initial.Get(name)
		}
		with, err := given.With(name, value)
		if err != nil {
			panic("kernels: a parameter is none: " + err.Error())
		}
		given = with
	}
	return given
}
