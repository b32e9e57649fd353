package importer

import (
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/space"
)

// A reference has no pragma that names a parameter, which is a macro there: no compiler expands it.
func TestReferencesUnrollByNoParameter(t *testing.T) {
	d := &description{backend: kernels.CUDA, params: []parameter{{name: "UNROLL", first: space.IntegerValue(0)}}}
	got := d.defined("#pragma unroll UNROLL\nfor (;;) {}\n#pragma unroll lanes\n")
	if !strings.HasPrefix(got, "#define UNROLL 0\n") || strings.Contains(got, "unroll UNROLL") ||
		!strings.Contains(got, "#pragma unroll lanes") {
		t.Error(got)
	}
}
