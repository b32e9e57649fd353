package profile

import "strings"

// bases are the units that prefixes are put before, and what they are called here.
var bases = map[string]string{
	"second": "second", "s": "second", "sec": "second",
	"byte": "byte", "bytes": "byte", "b": "byte",
	"hz": "hz", "cycle": "cycle", "cycles": "cycle",
	"inst": "inst", "sector": "sector", "sectors": "sector", "request": "request", "thread": "thread", "warp": "warp",
	"block": "block",
}

// prefixes are decimal, for bytes too: that is how Nsight Compute counts. Those for powers of two are written out.
var prefixes = []struct {
	text   string
	factor float64
}{
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40},
	{"n", 1e-9}, {"u", 1e-6}, {"µ", 1e-6}, {"μ", 1e-6}, {"m", 1e-3},
	{"K", 1e3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15},
}

// baseUnit returns the base unit of a unit, and what a value is multiplied with to be in it. A
// unit that is not known is its own.
func baseUnit(unit string) (base string, factor float64) {
	unit = strings.TrimSpace(unit)
	above, below, divided := strings.Cut(unit, "/")
	base, factor = simpleUnit(above)
	if divided {
		divisor, scale := simpleUnit(below)
		base, factor = base+"/"+divisor, factor/scale
	}
	if base == "hz" { // a clock
		return "cycle/second", factor
	}
	return base, factor
}

func simpleUnit(unit string) (base string, factor float64) {
	unit = strings.TrimSpace(unit)
	if base, known := bases[unit]; known {
		return base, 1
	}
	for _, prefix := range prefixes {
		rest, has := strings.CutPrefix(unit, prefix.text)
		if !has {
			continue
		}
		if base, known := bases[strings.ToLower(rest)]; known {
			return base, prefix.factor
		}
	}
	if base, known := bases[strings.ToLower(unit)]; known {
		return base, 1
	}
	return unit, 1
}
