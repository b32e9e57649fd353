package space

import (
	"errors"
	"strings"
	"testing"
)

func TestExpressionArithmetic(t *testing.T) {
	scope, err := NewScope(map[string]Kind{"S": Integer, "D": Integer, "FAST": Boolean, "MODE": Text},
		map[string]string{"TILES": "cdiv(S, 64)"})
	if err != nil {
		t.Fatal(err)
	}
	env := Environment{"S": 130, "D": 64, "FAST": true, "MODE": "row"}
	for source, want := range map[string]float64{
		"S / D":                   2,
		"-S / D":                  -2, // truncated as in C
		"S % D":                   2,
		"cdiv(S, D)":              3,
		"cdiv(-S, D)":             -2,
		"TILES * 2":               6,
		"1 / sqrt(D)":             0.125,
		"1.0 / 4":                 0.25,
		"max(S, D) - min(S, D)":   66,
		"FAST ? 1 : 2":            1,
		"2 ** 3":                  8,
		"MODE == \"row\" ? S : D": 130,
	} {
		e, err := scope.Compile(source, Number)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := e.Number(env); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", source, got, err, want)
		}
	}
	for source, want := range map[string]bool{"pow2(D)": true, "pow2(S)": false, "pow2(0)": false, "S > D && FAST": true} {
		e, err := scope.Compile(source, Condition)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := e.Bool(env); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", source, got, err, want)
		}
	}
}

func TestExpressionErrorsSayWhere(t *testing.T) {
	scope, err := NewScope(map[string]Kind{"S": Integer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		source string
		offset int
		text   string
	}{
		{"S + Q", 4, "Q is not declared"},
		{"S + ", 3, "unexpected token EOF"},
		{`S + "x"`, 2, "mismatched types"},
		{"now()", 0, ""},
	} {
		_, err := scope.Compile(test.source, Anything)
		var located *ExpressionError
		if !errors.As(err, &located) {
			t.Errorf("%s: got %v", test.source, err)
			continue
		}
		if located.Offset != test.offset || !strings.Contains(located.Message, test.text) {
			t.Errorf("%s: got offset %d, %q, want %d, %q", test.source, located.Offset, located.Message, test.offset, test.text)
		}
	}
}

func TestRuntimeErrors(t *testing.T) {
	scope, err := NewScope(map[string]Kind{"S": Integer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"1 / S", "1 % S", "cdiv(1, S)", "sqrt(S - 1)", "1.0 / S", "log(S)", "exp(1000 + S)"} {
		e, err := scope.Compile(source, Number)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := e.Number(Environment{"S": 0}); err == nil {
			t.Errorf("%s at S=0: got %v, want an error", source, got)
		}
	}
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{"S / D", "cdiv(S, D) * 2", "S // D", "((((", "S ? 1 : 2", "[1][S]"} {
		f.Add(seed)
	}
	scope, err := NewScope(map[string]Kind{"S": Integer, "D": Integer}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, source string) {
		e, err := scope.Compile(source, Number)
		if err != nil {
			return
		}
		_, _ = e.Number(Environment{"S": 3, "D": 0}) // must not panic
	})
}
