package kernels

import (
	"strings"
	"testing"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
)

// scalarOf returns the value that a scalar of a type and formula has at N=100.
func scalarOf(typ, formula string) (arguments.Binding, error) {
	text := strings.Replace(strings.Replace(good, "{N: 100000}", "{N: 100}", 1), "{name: n, type: i32, value: N}",
		"{name: n, type: "+typ+", value: "+formula+"}", 1)
	k, err := parse("kernel.yaml", []byte(text), Host)
	if err != nil {
		return arguments.Binding{}, err
	}
	bindings, err := k.Bind(Dims{"N": 100})
	if err != nil {
		return arguments.Binding{}, err
	}
	return bindings[3], nil
}

// What a kernel gets is what the manifest says, or the manifest is refused.
func TestScalarsAreExactOrRefused(t *testing.T) {
	for _, test := range []struct {
		typ, formula string
		want         string // of a mistake, empty for an exact value
		integer      int64
		value        float64
	}{
		{typ: "i32", formula: "2147483647", integer: 2147483647},
		{typ: "i32", formula: "-2147483648", integer: -2147483648},
		{typ: "i32", formula: "3000000000", want: "3000000000 does not fit i32, which holds -2147483648 to 2147483647"},
		{typ: "i32", formula: "-2147483649", want: "does not fit i32"},
		{typ: "i32", formula: `"N * 30000000"`, want: "does not fit i32"},
		{typ: "i32", formula: `"N / 3.0"`, want: "expected an integer"},
		{typ: "i32", formula: "1e3", want: "expected an integer"},
		{typ: "u8", formula: "255", integer: 255},
		{typ: "u8", formula: "256", want: "does not fit u8, which holds 0 to 255"},
		{typ: "u8", formula: "-1", want: "does not fit u8"},
		{typ: "i64", formula: "9007199254740993", integer: 1<<53 + 1},
		{typ: "i64", formula: "-9007199254740993", integer: -1<<53 - 1},
		{typ: "i64", formula: "9223372036854775807", integer: 1<<63 - 1},
		{typ: "i64", formula: "9223372036854775808", want: "9223372036854775808"},
		{typ: "i64", formula: `"2 ** 53 + 1"`, want: "expected an integer"},
		{typ: "i64", formula: `"N * 92233720368547758"`, integer: 9223372036854775800},
		{typ: "i64", formula: `"N * 92233720368547759"`, want: "100 * 92233720368547759 does not fit 64 bits"},
		{typ: "i64", formula: `"N / 1 * 92233720368547759"`, want: "does not fit 64 bits"},
		{typ: "i64", formula: `"9223372036854775807 - 0 + N"`, want: "does not fit 64 bits"},
		{typ: "i64", formula: `"-9223372036854775807 - N"`, want: "does not fit 64 bits"},
		{typ: "i64", formula: `"-9223372036854775807 - 1"`, integer: -1 << 63},
		{typ: "i64", formula: `"(N - 101) * (-9223372036854775807 - 1)"`, want: "does not fit 64 bits"},
		{typ: "i64", formula: `"BYTES * -23058430092136939"`, integer: -400 * 23058430092136939},
		{typ: "f64", formula: `"N + 0.5"`, value: 100.5},
		{typ: "f32", formula: "3.4028235e38", value: 3.4028235e38},
		{typ: "f32", formula: "1e39", want: "too large for f32"},
		{typ: "f16", formula: "65504", value: 65504},
		{typ: "f16", formula: "-65520", want: "too large for f16"},
		{typ: "bf16", formula: "3.4e38", want: "too large for bf16"},
		{typ: "e4m3", formula: "448", value: 448},
		{typ: "e4m3", formula: "500", want: "too large for e4m3"},
		{typ: "e5m2", formula: "57344", value: 57344},
		{typ: "e5m2", formula: "70000", want: "too large for e5m2"},
		{typ: "f64", formula: `"1e308 * 10"`, want: "the result is +Inf"},
		{typ: "f64", formula: `"sqrt(N) * (1e308 * 10 - 1e308 * 10)"`, want: "the result is NaN"},
	} {
		got, err := scalarOf(test.typ, test.formula)
		if test.want != "" {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s %s: got %+v, %v, want %q", test.typ, test.formula, got, err, test.want)
			}
			continue
		}
		if err != nil || got.Integer != test.integer || got.Value != test.value {
			t.Errorf("%s %s: got %d, %v, %v", test.typ, test.formula, got.Integer, got.Value, err)
			continue
		}
		element, _ := element.Named(test.typ)
		b := make([]byte, 8)
		if got.Put(b); !element.Float && element.Integer(b) != test.integer {
			t.Errorf("%s %s is passed as %d", test.typ, test.formula, element.Integer(b))
		}
	}
}

func TestRanges(t *testing.T) {
	const float = "{name: x, type: f32, shape: [N], fill: uniform}"
	withRange := func(argument string) (*Kernel, error) {
		return parse("kernel.yaml", []byte(strings.Replace(good, float, argument, 1)), Host)
	}
	k, err := withRange("{name: x, type: i32, shape: [N], range: [-1, N - 1]}")
	if err != nil {
		t.Fatal(err)
	}
	bindings, err := k.Bind(Dims{"N": 7})
	if err != nil || bindings[0].Range == nil || *bindings[0].Range != (arguments.Range{Low: -1, High: 6}) ||
		bindings[0].Fill != arguments.Uniform {
		t.Errorf("%+v, %v", bindings, err)
	}
	for argument, message := range map[string]string{
		"{name: x, type: i32, shape: [N], range: [0, 3000000000]}":    "does not fit i32",
		"{name: x, type: u8, shape: [N], range: [-1, 10]}":            "does not fit u8",
		"{name: x, type: i32, shape: [N], range: [1, 0]}":             "nothing lies from 1 to 0",
		"{name: x, type: i32, shape: [N], range: [1]}":                "two formulas",
		"{name: x, type: i32, shape: [N], range: [0, 1.5]}":           "expected an integer",
		"{name: x, type: i32, shape: [N], range: [0, BLOCK]}":         "BLOCK is a parameter",
		"{name: x, type: i32, shape: [N], fill: ones, range: [0, 1]}": "range belongs to inputs that are filled with",
		"{name: x, type: f32, shape: [N], range: [2, 1]}":             "nothing lies from 2 to 1",
		"{name: x, type: e4m3, shape: [N], range: [0, 500]}":          "e4m3 does not hold all numbers from 0 to 500",
		"{name: x, type: f32, shape: [N], range: [0, 1 / (N - N)]}":   "division by zero",
		"{name: x, type: i32, value: N, range: [0, 1]}":               "belong to buffers",
		"{name: x, type: i32, shape: [N], families: [signs]}":         `i32 has no family "signs"`,
		"{name: x, type: f32, shape: [N], families: [sorted]}":        `f32 has no family "sorted"`,
		"{name: x, type: i32, shape: [N], large: 4}":                  "integers have a range",
		"{name: x, type: i32, shape: [N], out: true, range: [0, 1]}":  "range belongs to inputs that are filled with",
	} {
		if _, err := withRange(argument); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: got %v, want %q", argument, err, message)
		}
	}
}
