package kernels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels/document"
	"pawl/space"
)

// Quantity is something that is measured of a point, for formulas of objectives.
type Quantity struct {
	Name string
	// Unit is what its numbers count.
	Unit string
	// PerSample says that each sample has a number of its own. Of the others a measurement
	// has one.
	PerSample bool
}

// Milliseconds is the unit of times.
const Milliseconds = "ms"

// Time is the quantity that is compared where a manifest says nothing.
const Time = "time"

// The quantities that are measured, beside the metrics of a program.
const (
	P95        = "p95"
	P99        = "p99"
	Least      = "least"
	BinarySize = "binary_size"
	Registers  = "registers"
	Spills     = "spills"
	Shared     = "shared"
	Energy     = "energy"
	UserTime   = "user_time"
	SystemTime = "system_time"
)

// quantities are what every backend measures; see Backend.Quantities.
var quantities = []Quantity{
	{Name: Time, Unit: Milliseconds, PerSample: true},
	{Name: P95, Unit: Milliseconds}, {Name: P99, Unit: Milliseconds}, {Name: Least, Unit: Milliseconds},
	{Name: BinarySize, Unit: "bytes"},
}

// missingQuantity says why a backend does not measure a quantity.
var missingQuantity = map[string]string{
	Energy: "energy is read from the counter of an NVIDIA GPU, and on %s nothing counts it",
}

// Objective is a formula over what is measured, that a search makes small or large.
type Objective struct {
	// Text is as the manifest has it.
	Text string
	// Maximize says that more is better.
	Maximize bool
	// Unit is what the formula comes to, "ms" for a time; empty where it has none.
	Unit string
	// Measured are the quantities that it uses, Parameters the parameters.
	Measured   []Quantity
	Parameters []string
	Formula    *space.Expression
}

// Requirement is a condition on what was measured.
type Requirement struct {
	Text      string
	Measured  []Quantity
	Condition *space.Expression
}

func uses(measured []Quantity, name string) bool {
	return slices.ContainsFunc(measured, func(q Quantity) bool { return q.Name == name })
}

// Measures reports whether any objective or requirement needs a quantity.
func (k *Kernel) Measures(name string) bool {
	return slices.ContainsFunc(k.Objectives, func(o Objective) bool { return uses(o.Measured, name) }) ||
		slices.ContainsFunc(k.Requirements, func(r Requirement) bool { return uses(r.Measured, name) })
}

// Quantities are what this kernel's backend measures, and what its program prints.
func (k *Kernel) Quantities() []Quantity {
	known := slices.Concat(quantities, k.On().Quantities)
	if k.Commands != nil {
		known = append(known, collect.Each(k.Commands.Metrics, Metric.Quantity)...)
	}
	return known
}

// timeUnits are the units of metrics that are times, in milliseconds.
var timeUnits = map[string]float64{"s": 1e3, "ms": 1, "us": 1e-3, "µs": 1e-3, "ns": 1e-6}

// Factor is what a printed number is multiplied by, and Quantity what it then is: times
// become milliseconds.
func (m Metric) Factor() float64 {
	return cmp.Or(timeUnits[m.Unit], 1)
}

// Quantity is the metric as a formula sees it.
func (m Metric) Quantity() Quantity {
	unit := m.Unit
	if _, time := timeUnits[unit]; time {
		unit = Milliseconds
	}
	return Quantity{Name: m.Name, Unit: unit, PerSample: true}
}

// objectives compiles what is compared and what must hold.
func (b *builder) objectives() error {
	compared := b.keys.Compared
	texts, maximize := compared.Minimize, compared.Maximize.Text != ""
	if maximize {
		if len(texts) > 0 {
			return compared.Maximize.At.Errorf("minimize and maximize exclude each other: minimize 1 / (…) is the same as " +
				"to maximize it")
		}
		texts = document.Scalars{compared.Maximize}
	}
	known, scope, err := b.measured()
	if err != nil {
		return err
	}
	for _, text := range texts {
		formula, measured, err := b.formula(scope, known, text, space.Number)
		if err != nil {
			return err
		}
		if len(measured) == 0 {
			return text.At.Errorf("%q uses nothing that is measured, so that every sample would be the same; there are %s",
				text.Text, strings.Join(collect.Each(known, func(q Quantity) string { return q.Name }), ", "))
		}
		o := Objective{Text: text.Text, Maximize: maximize, Measured: measured, Formula: formula}
		for _, p := range b.kernel.params {
			if slices.Contains(formula.Names(), p.Name) {
				o.Parameters = append(o.Parameters, p.Name)
			}
		}
		o.Unit = b.unit(o)
		b.kernel.Objectives = append(b.kernel.Objectives, o)
	}
	for _, text := range compared.Require {
		condition, measured, err := b.formula(scope, known, text, space.Condition)
		if err != nil {
			return err
		}
		if len(measured) == 0 {
			return text.At.Errorf("%q uses nothing that is measured; a condition on parameters alone belongs into constraints",
				text.Text)
		}
		b.kernel.Requirements = append(b.kernel.Requirements, Requirement{text.Text, measured, condition})
	}
	if c := b.kernel.Commands; c != nil && len(c.Metrics) > 0 && len(texts) == 0 {
		return b.manifest.Command.Metrics.Keys[0].At.Errorf("metrics are read, but nothing says what they are for: "+
			"minimize: %[1]s, or maximize: %[1]s", c.Metrics[0].Name)
	}
	return nil
}

// measured returns what this backend measures, and the scope of formulas over it.
func (b *builder) measured() (known []Quantity, scope *space.Scope, err error) {
	if b.kernel.Commands != nil {
		for i, m := range b.kernel.Commands.Metrics {
			if uses(quantities, m.Name) || len(measuring(m.Name)) > 0 {
				return nil, nil, b.manifest.Command.Metrics.Keys[i].At.Errorf("metric %s: pawl measures something of that name "+
					"itself; choose another", m.Name)
			}
		}
	}
	// A parameter, a size or a definition hides what is measured under the same name.
	known = slices.DeleteFunc(b.kernel.Quantities(), func(q Quantity) bool { return b.all.Has(q.Name) })
	return known, b.all.Measuring(collect.Each(known, func(q Quantity) string { return q.Name })), nil
}

func (b *builder) formula(scope *space.Scope, known []Quantity, text document.Scalar,
	want space.Result) (*space.Expression, []Quantity, error) {
	formula, err := document.Compile(scope, text, want)
	if err != nil {
		for _, other := range Backends {
			for _, q := range other.Quantities {
				if strings.Contains(err.Error(), q.Name+" is not declared") {
					return nil, nil, text.At.Errorf("%q: %s", text.Text, q.notHere(b.on.Name))
				}
			}
		}
		return nil, nil, err
	}
	return formula, collect.Where(known, func(q Quantity) bool { return slices.Contains(formula.Names(), q.Name) }), nil
}

// notHere says why a backend does not know a quantity.
func (q Quantity) notHere(backend string) string {
	reason := fmt.Sprintf("%s is not measured on backend %s", q.Name, backend)
	if text, known := missingQuantity[q.Name]; known {
		reason = fmt.Sprintf(text, "backend "+backend)
	}
	return fmt.Sprintf("%s; put the key into the section of a backend that does (%s)", reason,
		strings.Join(measuring(q.Name), ", "))
}

// measuring are the backends that measure something beside what all do.
func measuring(quantity string) []string {
	return slices.DeleteFunc(backendNames(), func(name string) bool { return !uses(BackendOf(name).Quantities, quantity) })
}

// unit is what a formula comes to: that of its quantities, if it doubles when they do. Any other has none.
func (b *builder) unit(o Objective) string {
	unit := o.Measured[0].Unit
	if slices.ContainsFunc(o.Measured, func(q Quantity) bool { return q.Unit != unit }) {
		return ""
	}
	env := b.kernel.Workloads[0].Dims.Environment()
	env.Set(b.kernel.initial)
	for _, base := range []float64{1.5, 700} {
		at := func(scale float64) float64 {
			for i, q := range o.Measured {
				env[q.Name] = scale * (base + float64(i)/8)
			}
			value, err := o.Formula.Number(env)
			if err != nil {
				return math.NaN()
			}
			return value
		}
		if !(math.Abs(at(2)/at(1)-2) < 1e-6) {
			return ""
		}
	}
	return unit
}
