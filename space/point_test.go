package space

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPointTextIsCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"B=2,A=1":                      "A=1,B=2",
		" A = 1 , B = true ":           "A=1,B=true",
		"MODE=row":                     "MODE=row",
		`MODE="row"`:                   "MODE=row",
		`MODE="64"`:                    `MODE="64"`,
		`MODE="true"`:                  `MODE="true"`,
		`FLAGS="a,b=c"`:                `FLAGS="a,b=c"`,
		`FLAGS="$(rm -rf /); \"x\" é"`: `FLAGS="$(rm -rf /); \"x\" é"`,
		"A=-3":                         "A=-3",
		"A=+3":                         "A=3",
		"A=-O3 -g,B=long double":       `A="-O3 -g",B="long double"`,
		"A=1.5.2":                      `A="1.5.2"`,
		"B=2 A=1":                      "A=1,B=2",
		`M="a b" A=-O3 -g  B = 2`:      `A="-O3 -g",B=2,M="a b"`,
		"":                             "",
	} {
		p, err := ParsePoint(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if p.String() != want {
			t.Errorf("%q: got %s, want %s", text, p, want)
		}
		again, err := ParsePoint(p.String())
		if err != nil || again != p {
			t.Errorf("%q: does not round trip: %v, %v", text, again, err)
		}
	}
}

// What a point has beside the default can be given back with --at.
func TestBesides(t *testing.T) {
	initial, _ := ParsePoint(`A=1,B=true,M="a b"`)
	for text, want := range map[string]string{
		`A=1,B=true,M="a b"`: "default", `A=2,B=true,M="c d"`: `A=2 M="c d"`,
	} {
		p, _ := ParsePoint(text)
		if got := p.Besides(initial); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if given, err := ParsePoint(want); want != "default" && (err != nil || given.Besides(initial) != want) {
			t.Errorf("%s is read as %s: %v", want, given, err)
		}
	}
}

func TestPointsAreComparable(t *testing.T) {
	a, _ := ParsePoint("A=1,B=2")
	b, _ := ParsePoint("B=2,A=1")
	if a != b {
		t.Error("equal assignments, unequal points")
	}
	if number, text := IntegerValue(64), TextValue("64"); number == text {
		t.Error("a string equals an integer")
	}
}

func TestBadPoints(t *testing.T) {
	for text, want := range map[string]string{
		"A":       "expected NAME=VALUE",
		"A=":      "no value",
		"A=1,":    "ends in a comma",
		"A=1 ,":   "ends in a comma",
		"A=1,A=2": "given twice",
		"9=1":     "expected NAME=VALUE",
		`A="x`:    "malformed",
		"A=1;B=2": "no value",
		`A="x"y`:  "expected a comma",
	} {
		if p, err := ParsePoint(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %s, %v, want an error with %q", text, p, err, want)
		}
	}
}

func TestDefine(t *testing.T) {
	for _, test := range []struct {
		value Value
		want  string
	}{{IntegerValue(64), "64"}, {BooleanValue(true), "1"}, {BooleanValue(false), "0"}, {TextValue("$(x) y"), "$(x) y"}} {
		if got := test.value.Define(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.value, got, test.want)
		}
	}
}

func TestPointInJSON(t *testing.T) {
	p, _ := ParsePoint(`A=1,W="a b"`)
	encoded, err := json.Marshal(map[string]any{"point": p, "value": TextValue("a\x01\"")})
	if err != nil {
		t.Fatal(err)
	}
	var decoded struct {
		Point Point
		Value string
	}
	if err := json.Unmarshal(encoded, &decoded); err != nil || decoded.Point != p || decoded.Value != "a\x01\"" {
		t.Errorf("%s: %v", encoded, err)
	}
}

func FuzzParsePoint(f *testing.F) {
	for _, seed := range []string{"A=1,B=true", `W="a,b",X=row`, "A=", "=,=", `A="\xff"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePoint(text)
		if err != nil {
			return
		}
		again, err := ParsePoint(p.String())
		if err != nil || again != p {
			t.Fatalf("%q: canonical %q does not round trip: %v", text, p, err)
		}
	})
}
