package importer

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pawl/space"
)

// token is a piece of an expression in the T1 format, which is Python's.
var token = regexp.MustCompile(
	`^\s*([A-Za-z_]\w*|\d+\.\d*(?:[eE][-+]?\d+)?|\d+|\*\*|//|<=|>=|==|!=|&&|\|\||[-+*/%<>()!,])`)

// formula writes an expression of the file in pawl's words: parameters stay, the file's
// constants become numbers. What could mean something else is an error.
func (p *problem) formula(d *description, text string) (string, error) {
	var words []string
	negative, divides := strings.Contains(text, "-"), false
	for rest := strings.TrimSpace(text); rest != ""; {
		match := token.FindStringSubmatch(rest)
		if match == nil {
			return "", fmt.Errorf("%q is not understood", rest)
		}
		rest = strings.TrimSpace(rest[len(match[0]):])
		word := match[1]
		content, constant := p.Config[word]
		switch {
		case word == "**" || word == "/":
			return "", fmt.Errorf("%s is not the same everywhere", word)
		case word == "//":
			word, divides = "/", true
		case word == "%":
			divides = true
		case word == "and", word == "or", word == "not", word == "min", word == "max", word == "abs",
			!identifier.MatchString(word):
		case d.tunes(word):
		case constant && regexpNumber.MatchString(fmt.Sprint(content)):
			word = fmt.Sprint(content)
			negative = negative || strings.HasPrefix(word, "-")
		default:
			return "", fmt.Errorf("%s is neither a parameter nor a constant of the file", word)
		}
		if word == "not" && !strings.HasPrefix(rest, "(") {
			return "", fmt.Errorf("not binds less in Python: put what it denies into brackets")
		}
		words = append(words, word)
	}
	for _, param := range d.params {
		negative = negative ||
			slices.ContainsFunc(param.values, func(v space.Value) bool { return strings.HasPrefix(v.Define(), "-") })
	}
	if divides && negative {
		return "", fmt.Errorf("a division of what may be negative rounds differently")
	}
	return strings.Join(words, " "), nil
}

// constant returns the value of a product or a sum of numbers.
func constant(text string) (int64, bool) {
	product := int64(1)
	for _, factor := range strings.Split(text, "*") {
		n, err := strconv.ParseInt(strings.TrimSpace(factor), 10, 64)
		if err != nil || n < 1 {
			return 0, false
		}
		product *= n
	}
	return product, true
}

// t1Values reads the values of a parameter: a list, or a list written as a string.
func t1Values(raw json.RawMessage) ([]any, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(strings.NewReplacer("'", `"`, "True", "true", "False", "false").Replace(text))
	}
	var values []any
	if err := decode(raw, &values); err != nil {
		return nil, fmt.Errorf("%s is not a list of values", raw)
	}
	return values, nil
}
