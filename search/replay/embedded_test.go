package replay

import (
	"testing"

	"pawl/kernels"
)

// Every embedded record is of valid points of its kernel as it is now, the default among them.
func TestEmbeddedRecords(t *testing.T) {
	if len(Embedded()) == 0 {
		t.Fatal("there are no records")
	}
	for _, name := range Embedded() {
		record, err := ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := New(record)
		if err != nil {
			t.Fatal(err)
		}
		k, err := kernels.Load(record.Kernel, kernels.CUDA)
		if err != nil {
			t.Fatal(err)
		}
		w, err := k.Workload(record.Workload)
		if err != nil {
			t.Fatal(err)
		}
		s, err := k.Space(w)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range record.Entries {
			if err := s.Check(e.Point); err != nil {
				t.Errorf("%s: %s: %v", name, e.Point, err)
			}
			if e.OK() && (len(e.Samples) < 10 || e.Resources == nil || e.Resources.Registers == 0 || e.Compile == 0) {
				t.Errorf("%s: %s has %d samples, resources %+v, compiled in %v", name, e.Point, len(e.Samples), e.Resources,
					e.Compile)
			}
		}
		if got := recorded.Pool().Space().Default(); got != s.Default() {
			t.Errorf("%s: default %s, the kernel's is %s", name, got, s.Default())
		}
		if recorded.Pool().Len() != len(record.Entries) || len(record.Entries) < 600 {
			t.Errorf("%s: %d entries", name, len(record.Entries))
		}
	}
}
