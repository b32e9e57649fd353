package space

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// integers returns an ordered parameter whose default is its first value.
func integers(name string, values ...int64) Param {
	p := Param{Name: name, Ordered: true}
	for _, v := range values {
		p.Values = append(p.Values, IntegerValue(v))
	}
	p.Default = p.Values[0]
	return p
}

func words(name string, values ...string) Param {
	p := Param{Name: name}
	for _, v := range values {
		p.Values = append(p.Values, TextValue(v))
	}
	p.Default = p.Values[0]
	return p
}

func switches(name string) Param {
	return Param{
		Name:    name,
		Values:  []Value{BooleanValue(false), BooleanValue(true)},
		Default: BooleanValue(false),
		Ordered: true,
	}
}

func build(t testing.TB, params []Param, constants map[string]int64, definitions map[string]string,
	constraints ...string) (*Space, error) {
	t.Helper()
	names := map[string]Kind{}
	for _, p := range params {
		names[p.Name] = p.Kind()
	}
	for name := range constants {
		names[name] = Integer
	}
	scope, err := NewScope(names, definitions)
	if err != nil {
		return nil, err
	}
	var compiled []*Expression
	for _, source := range constraints {
		e, err := scope.Compile(source, Condition)
		if err != nil {
			return nil, err
		}
		compiled = append(compiled, e)
	}
	return New(params, compiled, constants)
}

func mustBuild(t testing.TB, params []Param, constraints ...string) *Space {
	t.Helper()
	s, err := build(t, params, nil, nil, constraints...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustPool(t testing.TB, s *Space) *Pool {
	t.Helper()
	pool, err := s.Pool(PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

func TestPoolHoldsExactlyTheValidPoints(t *testing.T) {
	s := mustBuild(t,
		[]Param{integers("M", 16, 32, 64), integers("N", 16, 32), switches("PACK"), words("ORDER", "row", "column")},
		"M % N == 0", `!PACK || ORDER == "row"`)
	pool := mustPool(t, s)
	want := map[string]bool{}
	for _, m := range []int{16, 32, 64} {
		for _, n := range []int{16, 32} {
			for _, pack := range []bool{false, true} {
				for _, order := range []string{"row", "column"} {
					if m%n == 0 && (!pack || order == "row") {
						p, err := NewPoint(
							Assignment{"M", IntegerValue(int64(m))}, Assignment{"N", IntegerValue(int64(n))},
							Assignment{"PACK", BooleanValue(pack)}, Assignment{"ORDER", TextValue(order)})
						if err != nil {
							t.Fatal(err)
						}
						want[p.String()] = true
					}
				}
			}
		}
	}
	if pool.Len() != len(want) || !pool.Complete() {
		t.Fatalf("pool has %d points (complete %t), want %d", pool.Len(), pool.Complete(), len(want))
	}
	for i := range pool.Len() {
		p := pool.Point(i)
		if !want[p.String()] {
			t.Errorf("unexpected point %s", p)
		}
		delete(want, p.String())
		if at, err := pool.Index(p); err != nil || at != i {
			t.Errorf("Index(%s) = %d, %v, want %d", p, at, err, i)
		}
		if err := s.Check(p); err != nil {
			t.Error(err)
		}
	}
}

func TestConstraintsMayUseConstantsAndDefinitions(t *testing.T) {
	s, err := build(t, []Param{integers("M", 16, 32, 64), integers("N", 16, 32, 64)},
		map[string]int64{"D": 64},
		map[string]string{"TILE": "M * N * BYTES", "BYTES": "D / 16"},
		"TILE <= 8192")
	if err != nil {
		t.Fatal(err)
	}
	// BYTES = 4, so M*N <= 2048: of nine pairs only 32x64 (2048), 16x* and
	// 32x{16,32}, 64x{16,32} stay; 64x64 = 4096 goes.
	if got := mustPool(t, s).Len(); got != 8 {
		t.Errorf("%d points, want 8", got)
	}
}

func TestBadSpaces(t *testing.T) {
	two := []Param{integers("A", 1, 2), integers("B", 0, 2)}
	tests := []struct {
		name        string
		params      []Param
		definitions map[string]string
		constraints []string
		want        string
	}{
		{"no parameters", nil, nil, nil, "nothing to tune"},
		{"undeclared name", two, nil, []string{"A < C"}, "C is not declared"},
		{"not a condition", two, nil, []string{"A + B"}, "bool"},
		{"mixed types", two, nil, []string{`A == "x" && A + "y" == B`}, "mismatched types"},
		{"syntax", two, nil, []string{"A <"}, "unexpected"},
		{"comment", two, nil, []string{"A // B == 0"}, "not part of the language"},
		{"circle", two, map[string]string{"X": "Y + 1", "Y": "X + A"}, []string{"X > 0"}, "in a circle: Y → X → Y"},
		{"own name", two, map[string]string{"A": "1"}, nil, "defined twice"},
		{"division by zero at the default", two, nil, []string{"A / B >= 0"}, "division by zero"},
		{"default breaks a constraint", two, nil, []string{"A == 2"}, `constraint "A == 2" does not hold`},
		{"default not a value", []Param{{Name: "A", Values: []Value{IntegerValue(1)}, Default: IntegerValue(2)}}, nil, nil,
			"default 2 is not among"},
		{"value twice", []Param{integers("A", 1, 1)}, nil, nil, "listed twice"},
		{"no values", []Param{{Name: "A"}}, nil, nil, "no values"},
		{"ordered strings", []Param{{Name: "A", Values: []Value{TextValue("x")}, Default: TextValue("x"), Ordered: true}},
			nil, nil, "no order"},
		{"shell in a name", []Param{integers("A;rm", 1)}, nil, nil, "a name is letters"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var err error
			if len(test.params) > 0 && len(test.params[0].Values) > 0 && identifier.MatchString(test.params[0].Name) {
				_, err = build(t, test.params, nil, test.definitions, test.constraints...)
			} else {
				_, err = New(test.params, nil, nil)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestDivisionByZeroBehindAGuardIsNoError(t *testing.T) {
	params := []Param{integers("A", 4, 8),
		{Name: "B", Values: []Value{IntegerValue(0), IntegerValue(2)}, Default: IntegerValue(2), Ordered: true}}
	guarded := mustBuild(t, params, "B != 0", "A % B == 0")
	if got := mustPool(t, guarded).Len(); got != 2 {
		t.Errorf("%d points, want 2", got)
	}
	_, err := mustBuild(t, params, "A % B == 0").Pool(PoolOptions{})
	if err == nil || !strings.Contains(err.Error(), "A=4,B=0") {
		t.Errorf("got %v, want an error that names A=4,B=0", err)
	}
}

func TestEmptySpace(t *testing.T) {
	// The default satisfies everything by construction, so an empty space
	// shows as an invalid default already.
	_, err := build(t, []Param{integers("A", 1, 2)}, nil, nil, "A > 5")
	if err == nil || !strings.Contains(err.Error(), "default") {
		t.Errorf("got %v", err)
	}
	if errors.Is(err, ErrEmpty) {
		t.Error("the default's message is clearer than ErrEmpty")
	}
}

func TestLikelyOrdered(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []Value
		want   bool
	}{
		{"sizes", integers("A", 16, 32, 48).Values, true},
		{"counts", integers("A", 1, 2, 3).Values, true},
		{"a switch", integers("A", 0, 1).Values, true},
		{"unroll factors", integers("A", 0, 1, 2, 4).Values, true},
		{"offsets", integers("A", -1, 0, 1).Values, true},
		{"methods", integers("A", 0, 1, 2).Values, false},
		{"methods out of order", integers("A", 3, 0, 2, 1).Values, false},
		{"booleans", []Value{BooleanValue(true), BooleanValue(false)}, true},
		{"words", words("A", "row", "column").Values, false},
	} {
		if got := LikelyOrdered(test.values); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

func TestFingerprint(t *testing.T) {
	a := mustBuild(t, []Param{integers("A", 1, 2), words("W", "x", "y")}, "A < 3", "A > 0")
	reordered := mustBuild(t, []Param{words("W", "x", "y"), integers("A", 1, 2)}, "A > 0", "A < 3")
	if a.Fingerprint() != reordered.Fingerprint() {
		t.Error("the order of declaration changed the fingerprint")
	}
	for name, other := range map[string]*Space{
		"value":      mustBuild(t, []Param{integers("A", 1, 2, 4), words("W", "x", "y")}, "A < 3", "A > 0"),
		"constraint": mustBuild(t, []Param{integers("A", 1, 2), words("W", "x", "y")}, "A < 4", "A > 0"),
		"name":       mustBuild(t, []Param{integers("A", 1, 2), words("V", "x", "y")}, "A < 3", "A > 0"),
	} {
		if a.Fingerprint() == other.Fingerprint() {
			t.Errorf("another %s, the same fingerprint", name)
		}
	}
}

func TestNarrow(t *testing.T) {
	list := func(values ...int64) (list []Value) {
		for _, v := range values {
			list = append(list, IntegerValue(v))
		}
		return list
	}
	wide := mustBuild(t, []Param{
		{Name: "A", Values: list(8, 1, 4, 2), More: list(8, 2), Default: IntegerValue(1), Ordered: true},
		{Name: "B", Values: list(0, 1), More: list(0, 1), Default: IntegerValue(1)}, // a default is never left out
	}, "A != 4 || B == 1")
	narrow := wide.Narrow()
	pool := mustPool(t, narrow)
	if pool.Len() != 2 || pool.Point(0).String() != "A=1,B=1" || pool.Point(1).String() != "A=4,B=1" {
		t.Errorf("%d points, the first %s", pool.Len(), pool.Point(0))
	}
	if wide.Product() != 8 || narrow.Product() != 2 || wide.Wide() != 8 || narrow.Wide() != 8 {
		t.Errorf("%v and %v combinations, %v and %v if wide", wide.Product(), narrow.Product(), wide.Wide(),
			narrow.Wide())
	}
	if narrow.Fingerprint() == wide.Fingerprint() {
		t.Error("the studies of both are alike")
	}
	if plain := mustBuild(t, []Param{switches("A")}); plain.Narrow().Fingerprint() != plain.Fingerprint() {
		t.Error("a space without such values is another one")
	}
}

func TestComplete(t *testing.T) {
	s := mustBuild(t, []Param{integers("A", 1, 2, 4), integers("B", 1, 2)}, "A >= B")
	partial, _ := ParsePoint("A=4")
	full, err := s.Complete(partial)
	if err != nil || full.String() != "A=4,B=1" {
		t.Errorf("got %s, %v", full, err)
	}
	for text, want := range map[string]string{
		"C=1": "no parameter C",
		"A=3": "not one of 1, 2, 4",
		"B=2": "does not hold",
	} {
		p, err := ParsePoint(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Complete(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestHugeSpaceIsSampled(t *testing.T) {
	var params []Param
	for _, name := range strings.Split("A B C D E F G H I J K L M N O P", " ") {
		params = append(params, integers(name, 1, 2, 3, 4, 5, 6, 7, 8))
	}
	s := mustBuild(t, params, "A <= B", "C * D <= 32", "E != F || E == 1")
	pool, err := s.Pool(PoolOptions{Points: 2000, Branches: 1_000_000, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if pool.Complete() || pool.Len() != 2000 {
		t.Fatalf("complete %t, %d points", pool.Complete(), pool.Len())
	}
	if _, err := pool.Index(s.Default()); err != nil {
		t.Error(err)
	}
	again, err := s.Pool(PoolOptions{Points: 2000, Branches: 1_000_000, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for i := range pool.Len() {
		if pool.Point(i) != again.Point(i) {
			t.Fatal("the same seed drew another pool")
		}
		if err := s.Check(pool.Point(i)); err != nil {
			t.Fatal(err)
		}
		sum += float64(pool.Row(i)[15])
	}
	// P is free, so its position is uniform on 0..7: mean 3.5, standard error
	// 2.29/sqrt(2000) = 0.051; five of them.
	if mean := sum / 2000; mean < 3.24 || mean > 3.76 {
		t.Errorf("mean position of a free parameter %.3f, want about 3.5", mean)
	}
}

func TestRareValidPointsAreFoundInHugeSpaces(t *testing.T) {
	var params []Param
	constraints := []string{}
	names := strings.Split("A B C D E F G H I J K L", " ")
	for i, name := range names {
		params = append(params, integers(name, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
		if i > 0 {
			constraints = append(constraints, names[i-1]+" == "+name)
		}
	}
	pool, err := mustBuild(t, params, constraints...).Pool(PoolOptions{Points: 5, Branches: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	if pool.Len() < 2 {
		t.Errorf("%d points of ten valid ones among 10^12", pool.Len())
	}
}

// tenMillion is a Cartesian product of 13,107,200 with constraints of the kind
// that kernels have.
func tenMillion(t testing.TB) *Space {
	return mustBuild(t, []Param{
		integers("BLOCK_M", 16, 32, 64, 128, 256), integers("BLOCK_N", 16, 32, 64, 128, 256),
		integers("BLOCK_K", 8, 16, 32, 64), integers("WARPS_M", 1, 2, 4, 8), integers("WARPS_N", 1, 2, 4, 8),
		integers("STAGES", 1, 2, 3, 4), integers("VECTOR", 1, 2, 4, 8), integers("UNROLL", 1, 2, 4, 8),
		switches("SWIZZLE"), switches("PREFETCH"), integers("SPLIT", 1, 2, 4, 8, 16, 32, 64, 128),
		integers("GROUP", 1, 2, 4, 8),
	},
		"WARPS_M * WARPS_N <= 16",
		"BLOCK_M % (WARPS_M * 16) == 0",
		"BLOCK_N % (WARPS_N * 8) == 0",
		"STAGES * (BLOCK_M + BLOCK_N) * BLOCK_K * 2 <= 65536",
		"UNROLL <= BLOCK_K / 8",
		"!PREFETCH || STAGES > 1",
		"SPLIT * GROUP <= 16",
		"BLOCK_M * BLOCK_N <= 128 * 128",
	)
}

func TestTenMillionAreEnumerated(t *testing.T) {
	s := tenMillion(t)
	if s.Product() < 1e7 {
		t.Fatalf("product %.0f", s.Product())
	}
	start := time.Now()
	pool := mustPool(t, s)
	t.Logf("%d valid of %.0f in %v", pool.Len(), s.Product(), time.Since(start))
	if !pool.Complete() {
		t.Error("not complete")
	}
}

func BenchmarkPoolTenMillion(b *testing.B) {
	s := tenMillion(b)
	for b.Loop() {
		mustPool(b, s)
	}
}
