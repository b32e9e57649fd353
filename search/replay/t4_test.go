package replay

import (
	"bytes"
	"slices"
	"testing"

	"pawl/kernels"
	"pawl/objective"
)

// What T4 has a place for survives the way there and back.
func TestT4AndBack(t *testing.T) {
	record, err := ReadFile("attention-h200-training_512")
	if err != nil {
		t.Fatal(err)
	}
	record.Entries = record.Entries[:40]
	record.Entries[3].Samples, record.Entries[3].Milliseconds = nil, 0
	record.Entries[3].Failure = &objective.Failure{Stage: objective.Fuzz, Reason: objective.WrongResult}
	record.Entries[5].Samples, record.Entries[5].Milliseconds = nil, 0
	record.Entries[5].Failure = &objective.Failure{Stage: objective.Compile, Reason: objective.CompileError}
	var file bytes.Buffer
	if err := record.WriteT4(&file); err != nil {
		t.Fatal(err)
	}
	back, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if back.Kernel != record.Kernel || back.Workload != record.Workload ||
		back.Environment.Device != record.Environment.Device || len(back.Entries) != 40 {
		t.Fatalf("%s %s %s, %d entries", back.Kernel, back.Workload, back.Environment.Device, len(back.Entries))
	}
	for i, e := range back.Entries {
		want := record.Entries[i]
		if e.Point != want.Point || !slices.Equal(e.Samples, want.Samples) || e.Milliseconds != want.Milliseconds ||
			(e.Failure == nil) != (want.Failure == nil) {
			t.Fatalf("entry %d: %+v, want %+v", i, e, want)
		}
		if e.Failure != nil && *e.Failure != *want.Failure {
			t.Errorf("entry %d: %v, want %v", i, e.Failure, want.Failure)
		}
	}
}

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
