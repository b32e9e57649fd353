package winner

import (
	"fmt"
	"slices"

	"pawl/gate"
	"pawl/objective/devices"
)

// Cause is what a changed time is put down to.
type Cause string

const (
	Nothing  Cause = "nothing" // no change was shown
	Code     Cause = "code"
	Compiler Cause = "compiler"
	Both     Cause = "code or compiler"
	Driver   Cause = "driver"
	Machine  Cause = "machine"
)

// Fact is something that is not as it was then.
type Fact struct {
	What string `json:"what"`
	Then string `json:"then"`
	Now  string `json:"now"`
}

// The facts that decide.
const (
	factCode     = "code"
	factMachine  = "machine code"
	factCompiler = "compiler"
	factFlags    = "flags"
	factDriver   = "driver"
)

func differences(then *earlier, now *devices.PointMeasurement, source string) (facts []Fact) {
	for _, f := range []Fact{
		{factCode, then.study.Source, source},
		{factCompiler, then.study.Environment.Compiler, now.Environment.Compiler},
		{factFlags, then.study.Environment.Flags, now.Environment.Flags},
		{factMachine, then.binary, now.Binary},
		{factDriver, then.study.Environment.Driver, now.Environment.Driver},
		{"system", then.study.Environment.System, now.Environment.System},
		{"cores", fmt.Sprint(then.study.Environment.Cores), fmt.Sprint(now.Environment.Cores)},
	} {
		if f.Then != f.Now && f.Then != "" && f.Now != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

func (o *Remeasured) differs(what string) bool {
	return slices.ContainsFunc(o.Facts, func(f Fact) bool { return f.What == what })
}

// cause puts a change down to what can have made it.
func (o *Remeasured) cause() Cause {
	moved := o.Failure != nil || o.Comparison.Verdict == gate.Regression || o.Comparison.Verdict == gate.Improvement
	code, compiler := o.differs(factCode), o.differs(factCompiler) || o.differs(factFlags)
	// A point that does not compile any more has no machine code to compare.
	same := !o.differs(factMachine) && o.Failure == nil
	switch {
	case !moved:
		return Nothing
	case !same && code && compiler:
		return Both
	case !same && code:
		return Code
	case !same && compiler:
		return Compiler
	case o.differs(factDriver):
		return Driver
	}
	return Machine
}

var advice = map[Cause]string{
	Nothing:  "No change was shown since.",
	Code:     "The kernel's code has changed since, and the machine code with it: the gate says what that was worth.",
	Compiler: "The code is the same and the compiler is not: it makes other machine code of it.",
	Both: "Code and compiler have both changed since: the gate, which compiles both sides with one compiler, tells " +
		"them apart.",
	Driver: "The machine code is the same and the driver is not: times of before it cannot be compared with times of " +
		"after it.",
	Machine: "Machine code and driver are the same: the machine is in another state (heat, clocks, a neighbor), or " +
		"its surroundings have changed.",
}
