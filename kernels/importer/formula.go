package importer

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pawl/space"
)

// token is a piece of an expression in the T1 format, which is Python's.
var token = regexp.MustCompile(
	`^\s*([A-Za-z_]\w*(?:\[\d\])?|\d+\.\d*(?:[eE][-+]?\d+)?|\d+|\*\*|//|<=|>=|==|!=|&&|\|\||[-+*/%<>()!,])`)

// roundedUp is (a + b - 1) // b; a product b has brackets.
var roundedUp = regexp.MustCompile(`^\s*\(([^-()/%]+)\+([^-+()/%]+)-\s*1\s*\)\s*//\s*(\w+|\([^()]+\))\s*$`)

// formula writes an expression of the file in pawl's words: parameters stay, the file's
// constants become numbers. What could mean something else is an error.
func (p *problem) formula(d *description, text string) (string, error) {
	var words []string
	bare := strings.NewReplacer(" ", "", "(", "", ")", "")
	if up := roundedUp.FindStringSubmatch(text); up != nil && bare.Replace(up[2]) == bare.Replace(up[3]) {
		text = fmt.Sprintf("cdiv(%s, %s)", up[1], up[2])
	}
	negative, divides, real := strings.Contains(text, "-"), false, false
	for rest := strings.TrimSpace(text); rest != ""; {
		match := token.FindStringSubmatch(rest)
		if match == nil {
			return "", fmt.Errorf("%q is not understood", rest)
		}
		rest = strings.TrimSpace(rest[len(match[0]):])
		word := match[1]
		content, constant := p.constant(word)
		switch {
		case word == "**":
			return "", fmt.Errorf("%s is not the same everywhere", word)
		case strings.HasSuffix(word, "]") && !constant:
			return "", fmt.Errorf("%s is not known", word)
		case word == "/": // a fraction, by what follows
			real = true
			words = append(words, word)
			continue
		case word == "//":
			word, divides = "/", true
		case word == "%", word == "cdiv":
			divides = true
		case word == "and", word == "or", word == "not", word == "min", word == "max", word == "abs",
			!identifier.MatchString(word) && !constant:
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
		switch {
		case real && word == "(":
			word = "float("
		case real && strings.HasPrefix(rest, "("):
			return "", fmt.Errorf("/ %s( is not understood: put it into brackets", word)
		case real:
			word = "float(" + word + ")"
		}
		real = false
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

// constant is a name's number that is the same for all points: one of the file's, or of the problem's size.
func (p *problem) constant(name string) (any, bool) {
	if content, known := p.Config[name]; known {
		return content, true
	}
	var sizes []any
	switch given := p.Kernel.ProblemSize.(type) {
	case []any:
		sizes = given
	case map[string]any:
		sizes = []any{given["X"], given["Y"], given["Z"]}
	default:
		sizes = []any{given}
	}
	for i, size := range sizes {
		if size != nil && (name == fmt.Sprintf("ProblemSize[%d]", i) || name == "ProblemSize" && len(sizes) == 1) {
			return size, true
		}
	}
	return nil, false
}

// largest is the most that a formula comes to at any point, and the parameters that it depends on.
func (d *description) largest(text string) (most int64, names []string, err error) {
	scope, err := d.scope()
	if err != nil {
		return 0, nil, err
	}
	formula, err := scope.Compile(text, space.Number)
	if err != nil {
		return 0, nil, err
	}
	var walk func(i int, env space.Environment) error
	walk = func(i int, env space.Environment) error {
		if i == len(formula.Names()) {
			n, err := formula.Number(env)
			most = max(most, int64(math.Ceil(n)))
			return err
		}
		at := slices.IndexFunc(d.params, func(p parameter) bool { return p.name == formula.Names()[i] })
		for _, v := range d.params[at].values {
			env[d.params[at].name] = int(v.Integer())
			if err := walk(i+1, env); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(0, space.Environment{}); err != nil {
		return 0, nil, err
	}
	if most < 1 {
		return 0, nil, fmt.Errorf("it comes to %d", most)
	}
	return most, formula.Names(), nil
}

// repaired makes the default one that keeps all constraints: that of the file as far as possible.
func (d *description) repaired() {
	scope, err := d.scope()
	if err != nil {
		return
	}
	var conditions []*space.Expression
	for _, text := range d.constraints {
		if c, err := scope.Compile(text, space.Condition); err == nil {
			conditions = append(conditions, c)
		}
	}
	chosen, env, steps := make([]space.Value, len(d.params)), space.Environment{}, 0
	var walk func(i int) bool
	walk = func(i int) bool {
		known := func(name string) bool { _, bound := env[name]; return bound }
		for _, c := range conditions {
			if slices.ContainsFunc(c.Names(), func(name string) bool { return !known(name) }) {
				continue
			}
			if holds, err := c.Bool(env); err != nil || !holds {
				return false
			}
		}
		if i == len(d.params) {
			return true
		}
		p := d.params[i]
		for _, v := range append([]space.Value{p.first}, p.values...) {
			steps++
			point, err := space.NewPoint(space.Assignment{Name: p.name, Value: v})
			if err != nil || steps > mostSteps {
				return false
			}
			env.Set(point)
			if chosen[i] = v; walk(i + 1) {
				return true
			}
		}
		delete(env, p.name)
		return false
	}
	if !walk(0) {
		return
	}
	var changed []string
	for i, v := range chosen {
		if v != d.params[i].first {
			d.params[i].first = v
			changed = append(changed, d.params[i].name+"="+v.String())
		}
	}
	if changed != nil {
		d.note("the default breaks a restriction: %s instead", strings.Join(changed, ", "))
	}
}

// mostSteps bounds the search for a valid point.
const mostSteps = 1_000_000

var (
	comprehension = regexp.MustCompile(`^\[\s*(.+?)\s+for\s+(\w+)\s+in\s+(.+?)(?:\s+if\s+(.+?))?\s*\]$`)
	ranged        = regexp.MustCompile(`^(?:list\s*\(\s*)?range\s*\(([^()]*)\)\s*\)?$`)
	power         = regexp.MustCompile(`(\w+)\s*\*\*\s*(\w+)`)
)

// t1Values reads the values of a parameter: a list, or one written as a string in Python.
func t1Values(raw json.RawMessage) ([]any, error) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return listed(strings.TrimSpace(text))
}

func listed(text string) (values []any, err error) {
	if match := comprehension.FindStringSubmatch(text); match != nil {
		source, err := listed(match[3])
		if err != nil {
			return nil, err
		}
		for _, each := range source {
			number, isNumber := each.(json.Number)
			n, err := number.Int64()
			if !isNumber || err != nil {
				return nil, fmt.Errorf("%s goes over %v, which is no integer", text, each)
			}
			env := space.Environment{match[2]: int(n)}
			if match[4] != "" {
				kept, err := calculated(match[4], env, space.Condition)
				if err != nil {
					return nil, err
				}
				if kept == 0 {
					continue
				}
			}
			value, err := calculated(match[1], env, space.Number)
			if err != nil {
				return nil, err
			}
			values = append(values, json.Number(strconv.FormatFloat(value, 'f', -1, 64)))
		}
		return values, nil
	}
	if match := ranged.FindStringSubmatch(text); match != nil {
		ends := []int64{0, 0, 1}
		parts := strings.Split(match[1], ",")
		for i, part := range parts {
			n, err := calculated(part, nil, space.Number)
			if err != nil || i > 2 {
				return nil, fmt.Errorf("%s is no range", text)
			}
			if ends[i] = int64(n); len(parts) == 1 {
				ends[0], ends[1] = 0, int64(n)
			}
		}
		for n := ends[0]; ends[2] > 0 && n < ends[1] && len(values) < space.MostValues; n += ends[2] {
			values = append(values, json.Number(strconv.FormatInt(n, 10)))
		}
		return values, nil
	}
	plain := strings.NewReplacer("'", `"`, "True", "true", "False", "false").Replace(text)
	if err := decode([]byte(plain), &values); err != nil {
		return nil, fmt.Errorf("%s is not a list of values", text)
	}
	return values, nil
}

// calculated is the number of an expression in Python, 1 for what is true.
func calculated(text string, env space.Environment, want space.Result) (float64, error) {
	text = power.ReplaceAllString(strings.ReplaceAll(text, "//", "/"), "int($1 ** $2)")
	names := map[string]space.Kind{}
	for name := range env {
		names[name] = space.Integer
	}
	scope, err := space.NewScope(names, nil)
	if err != nil {
		return 0, err
	}
	e, err := scope.Compile(text, want)
	if err != nil {
		return 0, err
	}
	if want == space.Condition {
		if holds, err := e.Bool(env); err != nil || !holds {
			return 0, err
		}
		return 1, nil
	}
	return e.Number(env)
}
