package nvcc

import (
	"strings"
	"testing"

	"pawl/internal/thorough"
	"pawl/kernels"
)

// What attention's addresses cannot bear is refused by the compiler, whoever builds
// it, and not computed wrongly.
func TestAttentionRefusesWhatItCannotAddress(t *testing.T) {
	c := newCompiler(t, realNVCC(t))
	k, err := kernels.Load("attention", kernels.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := k.Materialise(c.Cache.Dir())
	if err != nil {
		t.Fatal(err)
	}
	_, flags := Named(k.Flags)
	type refused struct {
		changed []Define
		message string
	}
	for _, test := range thorough.Some([]refused{
		{[]Define{{"HEAD_DIM", "192"}}, "power of two"},
		{[]Define{{"HEAD_DIM", "32"}}, "power of two"},
		{[]Define{{"HEAD_DIM", "512"}}, "power of two"},
		{[]Define{{"HEAD_DIM", "64"}, {"OVERLAP", "1"}, {"NUM_STAGES", "1"}}, "a stage of their own"},
	}, 1) {
		unit := Unit{Dir: dir, Source: k.Source, Architecture: "sm_90", Flags: flags}
		for _, d := range definesOf(k.Default(), nil) {
			for _, other := range test.changed {
				if other.Name == d.Name {
					d = Define{}
					break
				}
			}
			if d.Name != "" {
				unit.Defines = append(unit.Defines, d)
			}
		}
		unit.Defines = append(unit.Defines, test.changed...)
		if _, err := c.Compile(t.Context(), unit); err == nil || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%v: got %v, want %q", test.changed, err, test.message)
		}
	}
}
