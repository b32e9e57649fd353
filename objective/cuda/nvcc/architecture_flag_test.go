package nvcc

import (
	"slices"
	"testing"
)

func TestArchitecture(t *testing.T) {
	for want, got := range map[string]string{
		"sm_90": Architecture(9, 0, ""), "sm_90a": Architecture(9, 0, "a"), "sm_120f": Architecture(12, 0, "f"),
		"compute_90a": virtual("sm_90a"), "compute_75": virtual("sm_75"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestNamedTakesTheArchitectureOutOfTheFlags(t *testing.T) {
	for _, test := range []struct {
		flags []string
		named string
		rest  []string
	}{
		{nil, "", nil},
		{[]string{"-O3"}, "", []string{"-O3"}},
		{[]string{"-O3", "-arch=sm_90a", "-I", "x"}, "sm_90a", []string{"-O3", "-I", "x"}},
		{[]string{"-arch", "sm_90", "-O3"}, "sm_90", []string{"-O3"}},
		{[]string{"-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]"}, "sm_90a", nil},
		{[]string{"-gencode=arch=compute_100f,code=sm_100f", "-O3"}, "sm_100f", []string{"-O3"}},
		{[]string{"--gpu-architecture=sm_90a"}, "sm_90a", nil},
	} {
		named, rest := Named(test.flags)
		if named != test.named || !slices.Equal(rest, test.rest) {
			t.Errorf("%v: got %q, %v", test.flags, named, rest)
		}
	}
}
