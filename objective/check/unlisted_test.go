package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/space"
)

const unfuzzed = `name: rows
entry: rows
source: {host: rows.c}
reference: {host: rows.c}
params:
  BLOCK: {values: [16, 64], default: 64}
workloads:
  first: {N: 1000, M: 300, MODE: 1, K: 5}
  second: {N: 100000, M: 300, MODE: 0, K: 5}
args:
  - {name: x, type: i32, shape: [N, M, K]}
  - {name: y, type: i32, shape: [N, M], out: true}
  - {name: n, type: i32, value: N}
  - {name: m, type: i32, value: 2 * M}
  - {name: mode, type: i32, value: MODE}
`

func manifest(t *testing.T, text string) *kernels.Kernel {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"kernel.yaml": text, "rows.c": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	k, err := kernels.Load(dir, kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// sizesOf returns the sizes that a dimension has in cases.
func sizesOf(cases []Case, name string) map[int64]bool {
	sizes := map[int64]bool{}
	for _, c := range cases {
		sizes[c.Dims[name]] = true
	}
	return sizes
}

// Without a fuzz section, what the kernel is passed varies, and nothing else: a size
// that only shapes depend on may be a number in the source, a switch has no extent.
func TestShapesAreGeneratedWithoutAFuzzSection(t *testing.T) {
	for _, test := range []struct {
		name, more string
		varying    []string
		note       string
	}{
		{"no section", "", []string{"M", "N"}, "with K=5, MODE=1 only"},
		{"a section says which", "fuzz: {M: [1, 7]}\n", []string{"M"}, "with K=5, MODE=1, N=1000 only"},
		{"an empty section says none", "fuzz: {}\n", nil, "with K=5, M=300, MODE=1, N=1000 only"},
		{"constants stay", "defines: {COLUMNS: M}\n", []string{"N"}, "with K=5, MODE=1 only"},
		{"a domain is kept", "domain: [N % 8 == 0]\n", []string{"M", "N"}, "with K=5, MODE=1 only"},
		{"a domain that leaves nothing", "domain: [N >= 1000 && N % 500 == 0, M == 300]\n", []string{"M", "N"}, "M=300"},
		{"constraints are kept", "constraints: [N % BLOCK == N - N / BLOCK * BLOCK, BLOCK <= N]\n", []string{"M", "N"},
			"with K=5, MODE=1 only"},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := manifest(t, unfuzzed+test.more)
			w := k.Workloads[0]
			if got := k.Varying(); !slices.Equal(got, test.varying) {
				t.Errorf("%v vary, want %v", got, test.varying)
			}
			full := Full(k, w, k.Default(), 3)
			cases := append(Quick(k, w, k.Default(), 5, 3), full...)
			for _, c := range cases {
				if !k.Allows(c.Dims) || c.Dims["K"] != 5 || c.Dims["MODE"] != 1 {
					t.Errorf("%s is outside of the domain, or varies what must not", c.Dims)
				}
				if _, err := c.Bind(k); err != nil {
					t.Error(err)
				}
				if strings.Contains(test.more, "BLOCK <= N") && c.Dims["N"] < 64 {
					t.Errorf("%s breaks a constraint", c.Dims)
				}
			}
			if note := Unchecked(k, w); !strings.Contains(note, test.note) {
				t.Errorf("note %q, want %q", note, test.note)
			}
			for _, family := range k.Arguments.Families() {
				if !slices.ContainsFunc(full, func(c Case) bool { return c.Family == family }) {
					t.Errorf("the family %s is not tried", family)
				}
			}
			if cases[len(cases)-1].Dims.String() != w.Dims.String() {
				t.Error("the workload is not the last case")
			}
		})
	}
	k := manifest(t, unfuzzed)
	full := Full(k, k.Workloads[0], k.Default(), 3)
	for _, name := range []string{"N", "M"} {
		if sizes := sizesOf(full, name); len(sizes) < 10 || !sizes[1] || !sizes[63] && !sizes[65] {
			t.Errorf("%s has the sizes %v", name, sizes)
		}
	}
	quick := Quick(k, k.Workloads[0], k.Default(), 5, 3)
	if len(quick) != 5 || len(sizesOf(quick, "N")) < 3 || quick[2].Family != arguments.Extremes {
		t.Errorf("the quick tier is %v", quick)
	}
	// Families are tried where the domain has no shape but the workload's, too.
	narrow := manifest(t,
		strings.ReplaceAll(unfuzzed, "type: i32, shape", "type: f32, shape")+
			"domain: [N >= 1000 && N % 500 == 0, M == 300]\n")
	for _, family := range narrow.Arguments.Families() {
		if !slices.ContainsFunc(Full(narrow, narrow.Workloads[0], narrow.Default(), 3),
			func(c Case) bool { return c.Family == family }) {
			t.Errorf("the family %s is not tried", family)
		}
	}
	// All points of a study share what is as large as the workload.
	fixed := manifest(t, unfuzzed+"fuzz: {}\n")
	s, err := fixed.Space(fixed.Workloads[0])
	if err != nil {
		t.Fatal(err)
	}
	pool, err := s.Pool(space.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := Quick(fixed, fixed.Workloads[0], pool.Point(0), 5, 3),
		Quick(fixed, fixed.Workloads[0], pool.Point(1), 5, 3); len(a) != 2 || !slices.Equal(texts(a), texts(b)) {
		t.Errorf("%v and %v", a, b)
	}
}
