package simulated

import (
	"testing"

	"pawl/gate"
	"pawl/internal/thorough"
)

// A program with many rows: on machines whose processes differ, are disturbed in a rhythm or have heavy
// tails, no row of equal sides is called different, and real slowdowns are found on a steady one.
func TestManyRows(t *testing.T) {
	t.Parallel()
	o := ManyRows{
		Runs: thorough.Count(2, 20), Rows: thorough.Count(60, 400), Samples: 3, Rounds: 20, Seed: 1,
		Policy: gate.Presets["standard"], Slowdowns: []float64{0.05, 0.10},
	}
	var faults []Fault
	for _, f := range Faults {
		switch f.Name {
		case "steady", "process levels of 10 %", "heavy tails", "bursty neighbor", "3 of 10 processes slow":
			faults = append(faults, f)
		}
	}
	rows, err := o.Run(t.Context(), faults)
	if err != nil || len(rows) != 5 {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows {
		// Of 40 runs on each of five machines, 0.004 of which may have one: about one run.
		if row.FalseRows+row.FalseBeside.Times > 1 {
			t.Errorf("%s: %d rows of equal sides, and %v beside slower ones, are false", row.Fault, row.FalseRows,
				row.FalseBeside)
		}
		if row.Fault == "steady" && (row.Found[0].Times < row.Found[0].Of*9/10 || row.Found[1].Times < row.Found[1].Of) {
			t.Errorf("steady: found %v", row.Found)
		}
	}
}
