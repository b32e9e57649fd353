package studies

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"pawl/search/trial"
)

// same compares everything that is recorded of two studies but their numbers.
func same(t *testing.T, a *Store, first int64, b *Store, second int64) {
	t.Helper()
	read := func(s *Store, id int64) []any {
		study, err := s.Study(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		all, err := everything(t.Context(), s, study)
		if err != nil {
			t.Fatal(err)
		}
		study.ID = 0
		all[0] = study
		return all
	}
	if x, y := read(a, first), read(b, second); !reflect.DeepEqual(x, y) {
		t.Errorf("%+v\nis not %+v", y, x)
	}
}

func testCopies(t *testing.T, e testEngine) {
	from, to := e.open(t, e.place(t)), e.open(t, e.place(t))
	record(t, from)
	if _, err := to.Create(t.Context(), Study{Subject: Subject{Kernel: "another"}}); err != nil {
		t.Fatal(err)
	}
	copied, err := from.Copy(t.Context(), 2, to)
	if err != nil || copied.To != 2 || copied.Rows != 1+40+10+6+6+6 || len(copied.Digest) != 32 {
		t.Fatalf("%+v, %v", copied, err)
	}
	same(t, from, 2, to, copied.To)
	if damage, err := to.Verify(t.Context()); err != nil || len(damage) > 0 {
		t.Errorf("%v, %v", damage, err)
	}
	// The study goes on there.
	trial := trial.Trial{Number: 40, Point: examplePoint(40)}
	if err := to.Recorder(copied.To).Started(trial); err != nil {
		t.Error(err)
	}
}

func testCopyThereAndBack(t *testing.T, e testEngine) {
	start := e.open(t, e.place(t))
	record(t, start)
	for name, other := range testEngines {
		there, back := other.open(t, other.place(t)), e.open(t, e.place(t))
		out, err := start.Copy(t.Context(), 1, there)
		if err != nil {
			t.Fatalf("to %s: %v", name, err)
		}
		home, err := there.Copy(t.Context(), out.To, back)
		if err != nil || home.Digest != out.Digest {
			t.Fatalf("from %s: %+v, %v", name, home, err)
		}
		same(t, start, 1, there, out.To)
		same(t, start, 1, back, home.To)
	}
}

func testCopyRefuses(t *testing.T, e testEngine) {
	from, to := e.open(t, e.place(t)), e.open(t, e.place(t))
	id, err := from.Create(t.Context(), exampleStudy())
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := from.Lock(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := from.Copy(t.Context(), id, to); !errors.Is(err, ErrBusy) {
		t.Errorf("it runs: %v", err)
	}
	unlock()
	awaitFree(t, from, id)
	if _, err := from.Copy(t.Context(), id, to); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Copy(t.Context(), id, to); !errors.Is(err, ErrThere) {
		t.Errorf("twice: %v", err)
	}
	if _, err := from.Copy(t.Context(), 99, to); !errors.Is(err, ErrNoStudy) {
		t.Errorf("none: %v", err)
	}
	all, err := to.List(t.Context())
	if err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}

// A digest does not depend on the order of rows, and on each value.
func TestContentDigest(t *testing.T) {
	rows := content{
		{"trials", columns{{"number", int64(1)}, {"point", "A=1"}}},
		{"trials", columns{{"number", int64(2)}, {"point", "A=2"}}},
	}
	turned := content{rows[1], rows[0]}
	if rows.digest() != turned.digest() {
		t.Error("the order counts")
	}
	changed := slices.Clone(rows)
	changed[1] = contentRow{"trials", columns{{"number", int64(2)}, {"point", "A=3"}}}
	if rows.digest() == changed.digest() {
		t.Error("a value does not count")
	}
}
