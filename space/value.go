package space

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind is the type of a parameter's values. Every value of one parameter has
// the same kind.
type Kind uint8

// The kinds of values a parameter may take.
const (
	Integer Kind = iota + 1
	Boolean
	Text
)

var kindNames = map[Kind]string{Integer: "integer", Boolean: "boolean", Text: "string"}

func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Value is one integer, boolean or string. It is comparable: two values are
// equal when they have the same kind and the same content. The zero Value is
// no value at all.
type Value struct {
	kind    Kind
	integer int64 // also 0 or 1 for booleans
	text    string
}

// IntegerValue returns the value of an integer.
func IntegerValue(n int64) Value { return Value{kind: Integer, integer: n} }

// BooleanValue returns the value of a boolean.
func BooleanValue(b bool) Value {
	if b {
		return Value{kind: Boolean, integer: 1}
	}
	return Value{kind: Boolean}
}

// TextValue returns the value of a string.
func TextValue(s string) Value { return Value{kind: Text, text: s} }

// DecimalValue returns the value of a number that is no integer: the string that a compiler reads, always written in
// the same way.
func DecimalValue(x float64) Value {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		text += ".0"
	}
	return TextValue(text)
}

// SameKind returns values with integers as decimals, where there is a decimal among them.
func SameKind(values []Value) []Value {
	if !slices.ContainsFunc(values, Value.decimal) {
		return values
	}
	same := slices.Clone(values)
	for i, v := range same {
		if v.kind == Integer {
			same[i] = DecimalValue(float64(v.integer))
		}
	}
	return same
}

// decimal reports whether a string is a number that is no integer.
func (v Value) decimal() bool {
	if v.kind != Text || !strings.ContainsAny(v.text, ".e") || strings.Trim(v.text, "0123456789.e+-") != "" {
		return false
	}
	_, err := strconv.ParseFloat(v.text, 64)
	return err == nil
}

// Number returns what a value counts for where values have an order. It is 0 for strings that are no numbers.
func (v Value) Number() float64 {
	if !v.decimal() {
		return float64(v.integer)
	}
	x, _ := strconv.ParseFloat(v.text, 64) // decimal has tried it
	return x
}

// Kind returns the kind of v, 0 for the zero Value.
func (v Value) Kind() Kind { return v.kind }

// Integer returns the content of an integer, and 0 or 1 for a boolean. It is
// meaningless for strings: ask Kind first.
func (v Value) Integer() int64 { return v.integer }

// bareWord matches the strings that need no quotes in a point's canonical
// text. Everything else is quoted, so that the text is self-describing:
// no string can be taken for an integer, a boolean or a separator.
const bareWord word = ".+-"

// String returns the canonical text of v: 64, 0.5, true, row, "a b".
func (v Value) String() string {
	switch v.kind {
	case Integer:
		return strconv.FormatInt(v.integer, 10)
	case Boolean:
		return strconv.FormatBool(v.integer != 0)
	case Text:
		if v.decimal() || bareWord.MatchString(v.text) && v.text != "true" && v.text != "false" {
			return v.text
		}
		return strconv.Quote(v.text)
	}
	return "?"
}

// Define returns what a C compiler gets behind -DNAME=: integers as they are,
// booleans as 1 and 0, strings verbatim.
func (v Value) Define() string {
	if v.kind == Text {
		return v.text
	}
	return strconv.FormatInt(v.integer, 10)
}

// native returns v as the expression language sees it.
func (v Value) native() any {
	switch v.kind {
	case Integer:
		return int(v.integer)
	case Boolean:
		return v.integer != 0
	default:
		return v.text
	}
}

// MarshalJSON writes a value as the JSON type of its kind.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.kind {
	case Text:
		return json.Marshal(v.text)
	case Integer, Boolean:
		return []byte(v.String()), nil
	}
	return nil, fmt.Errorf("space: the zero value has no JSON form")
}

// UnmarshalJSON reads a value by its JSON type. A number without a fraction is an
// integer however it is written; other numbers become text.
func (v *Value) UnmarshalJSON(raw []byte) error {
	var content any
	if err := json.Unmarshal(raw, &content); err != nil {
		return err
	}
	switch content := content.(type) {
	case bool:
		*v = BooleanValue(content)
	case string:
		*v = TextValue(content)
	case float64:
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			*v = IntegerValue(n)
		} else if content == math.Trunc(content) && math.Abs(content) < 1<<53 {
			*v = IntegerValue(int64(content))
		} else {
			*v = DecimalValue(content)
		}
	default:
		return fmt.Errorf("%s is not an integer, a boolean, a number or a string", raw)
	}
	return nil
}

// word is a kind of name: a letter or an underscore, then letters, digits, underscores and
// the characters that it holds. Every point of a study is read from its text, ten thousand for one
// page, and regular expressions took most of that time.
type word string

// MatchString reports whether a text is such a name.
func (w word) MatchString(text string) bool {
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case i > 0 && (c >= '0' && c <= '9' || strings.IndexByte(string(w), c) >= 0):
		default:
			return false
		}
	}
	return text != ""
}
