package page

import (
	"fmt"
	"math"
	"slices"

	"pawl/internal/stats"
)

// Quantity says how a number is written that was measured. The zero Quantity is a time in
// milliseconds.
type Quantity struct {
	// Formula is what the manifest says.
	Formula string `json:"formula,omitempty"`
	// Unit is what it comes to: "ms" is a time, "bytes" a size.
	Unit string `json:"unit,omitempty"`
	// Maximize says that more is better. Numbers are compared as their reciprocals then,
	// and Compared undoes that.
	Maximize bool `json:"maximize,omitempty"`
}

// Value writes a number of this quantity.
func (q Quantity) Value(x float64) string {
	switch q.Unit {
	case "ms":
		return Milliseconds(x)
	case "bytes":
		return Bytes(x)
	case "":
		return fmt.Sprintf("%.4g", x)
	}
	return fmt.Sprintf("%.4g %s", x, q.Unit)
}

// Objective is what points are compared by, and what is shown beside it. A nil Objective is the
// time.
type Objective struct {
	Quantity
	// All are the objectives in the order of the manifest, the first included.
	All []Quantity `json:"all,omitempty"`
	// Beside are the quantities that were measured, by name in Formula.
	Beside []Quantity `json:"measured,omitempty"`
}

// Quantities are those that were measured.
func (o *Objective) Quantities() []Quantity {
	if o == nil {
		return nil
	}
	return o.Beside
}

// Text writes a number that was compared; none is 0. That of the zero Quantity is a time.
func (q Quantity) Text(compared float64) string {
	switch {
	case q == Quantity{}:
		return Milliseconds(compared)
	case compared == 0:
		return Unknown
	case q.Maximize:
		return q.Value(1 / compared)
	}
	return q.Value(compared)
}

// Interval writes an interval of numbers that were compared.
func (q Quantity) Interval(i stats.Interval) string {
	if q.Maximize && i.Bounded() {
		i.Low, i.High = i.High, i.Low
	}
	return interval(i, q.Text)
}

// Column writes the numbers of a column, all in one unit, which stands in its head, and with as many decimals as leave
// the smallest four digits. Other quantities than times have their own units beside each.
func (q Quantity) Column(compared ...float64) (unit string, text func(float64) string) {
	if q != (Quantity{}) && (q.Unit != "ms" || q.Maximize) {
		return "", q.Text
	}
	known := slices.DeleteFunc(slices.Clone(compared), func(ms float64) bool { return !(ms > 0) || math.IsInf(ms, 0) })
	if len(known) == 0 {
		return "ms", q.Text
	}
	least, size := slices.Min(known), 1e-6
	for _, u := range units {
		if least >= u.size {
			unit, size = u.name, max(u.size, size)
			break
		}
	}
	digits := max(0, 3-int(math.Floor(math.Log10(least/size))))
	return unit, func(ms float64) string {
		if !(ms > 0) {
			return Unknown
		}
		return fmt.Sprintf("%.*f", digits, ms/size)
	}
}

// Text writes a number that was compared.
func (o *Objective) Text(compared float64) string { return o.First().Text(compared) }

// Interval writes an interval of numbers that were compared.
func (o *Objective) Interval(i stats.Interval) string { return o.First().Interval(i) }

// First is the quantity that decides; the zero one is the time.
func (o *Objective) First() Quantity {
	if o == nil {
		return Quantity{}
	}
	return o.Quantity
}

// Samples writes the median of what was compared and its interval, quickly enough for a
// display that changes in place.
func (o *Objective) Samples(compared []float64) string {
	return fmt.Sprintf("%s (%s)", o.Text(stats.Median(compared)),
		o.Interval(stats.Bootstrap(1000).Median(compared)))
}

// Name is what is compared, for the head of a column.
func (o *Objective) Name() string {
	if o == nil {
		return "median"
	}
	return o.Formula
}
