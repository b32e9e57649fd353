package space

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// Environment holds the values that an expression is evaluated with: int,
// float64, bool or string by name.
type Environment map[string]any

// Expression is a compiled formula of a manifest: a constraint, a size, a
// launch dimension. It is safe for concurrent use.
//
// The language is expr-lang with the division a kernel author expects (two
// integers divide to an integer, truncated as in C) and the functions cdiv
// (ceiling division), pow2 (is it a power of two), min, max, abs, sqrt, floor,
// ceil, int, float, exp, log, sin and cos. Nothing in it can loop, read the clock or touch the
// machine.
type Expression struct {
	source      string
	names       []string // free names, definitions resolved, sorted
	definitions []definition
	program     *vm.Program
}

type definition struct {
	name, source string
	program      *vm.Program
}

// ExpressionError says what is wrong with an expression, and where.
type ExpressionError struct {
	Source string
	// Offset is the position in Source, in characters, of what is wrong.
	Offset  int
	Message string
}

func (e *ExpressionError) Error() string {
	return fmt.Sprintf("expression %q: %s", e.Source, e.Message)
}

// Source returns the text that the expression was compiled from.
func (e *Expression) Source() string { return e.source }

// Names returns the names that the value depends on, sorted: those in the
// text, and those behind the definitions that it uses.
func (e *Expression) Names() []string { return slices.Clone(e.names) }

// NamesOf are those that any of some formulas depends on. One that is not there depends on none.
func NamesOf(formulas ...*Expression) map[string]bool {
	names := map[string]bool{}
	for _, e := range formulas {
		if e == nil {
			continue
		}
		for _, name := range e.names {
			names[name] = true
		}
	}
	return names
}

// Bool evaluates a condition.
func (e *Expression) Bool(env Environment) (bool, error) { return as[bool](e.run(env)) }

// as is a result of the type that the compiler has checked.
func as[T any](result any, err error) (value T, _ error) {
	if err == nil {
		value = result.(T)
	}
	return value, err
}

// Integer evaluates an integer formula. One that is not there is 0.
func (e *Expression) Integer(env Environment) (int64, error) {
	if e == nil {
		return 0, nil
	}
	n, err := as[int](e.run(env))
	return int64(n), err
}

// Number evaluates a formula to a finite number. One that is not there is 0.
func (e *Expression) Number(env Environment) (float64, error) {
	if e == nil {
		return 0, nil
	}
	result, err := e.run(env)
	if err != nil {
		return 0, err
	}
	x := toFloat(result)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("expression %q: the result is %v", e.source, x)
	}
	return x, nil
}

// Text evaluates a formula of any kind; a condition is 1 or 0, as the source of a kernel sees
// it.
func (e *Expression) Text(env Environment) (string, error) {
	result, err := e.run(env)
	if condition, ok := result.(bool); ok && err == nil {
		return BooleanValue(condition).Define(), nil
	}
	return fmt.Sprint(result), err
}

func (e *Expression) run(env Environment) (any, error) {
	env, err := e.defined(env)
	if err != nil {
		return nil, err
	}
	result, err := runProgram(e.program, env)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", e.source, err)
	}
	return result, nil
}

// defined adds the values of definitions.
func (e *Expression) defined(env Environment) (Environment, error) {
	if len(e.definitions) > 0 {
		env = maps.Clone(env)
	}
	for _, d := range e.definitions {
		value, err := runProgram(d.program, env)
		if err != nil {
			return nil, fmt.Errorf("expression %q: %s: %w", e.source, d.name, err)
		}
		env[d.name] = value
	}
	return env, nil
}

func runProgram(program *vm.Program, env Environment) (any, error) {
	result, err := expr.Run(program, map[string]any(env))
	if located, ok := errors.AsType[*file.Error](err); ok {
		err = errors.New(strings.TrimPrefix(located.Message, "runtime error: "))
	}
	return result, err
}

// compile checks and compiles one text against the types of the names.
func compile(source string, types map[string]any, exact bool) (*vm.Program, error) {
	for _, comment := range []string{"//", "/*", "#"} {
		if at := strings.Index(source, comment); at >= 0 {
			return nil, &ExpressionError{source, at, comment + " is not part of the language (division of integers is /)"}
		}
	}
	options := []expr.Option{
		expr.Env(types),
		expr.DisableAllBuiltins(),
		expr.EnableBuiltin("min"), expr.EnableBuiltin("max"), expr.EnableBuiltin("abs"),
		expr.EnableBuiltin("floor"), expr.EnableBuiltin("ceil"),
		expr.EnableBuiltin("int"), expr.EnableBuiltin("float"),
		expr.Patch(integerDivision{}), expr.Patch(realRemainder{}),
		dividing("remainder", func(a, b int) int { return a % b }, math.Mod),
		dividing("divide", func(a, b int) int { return a / b }, func(a, b float64) float64 { return a / b }),
		expr.Function("cdiv", ceilingDivide, new(func(int, int) int)),
		expr.Function("pow2", func(n ...any) (any, error) { return isPowerOfTwo(n[0].(int)), nil }, new(func(int) bool)),
		expr.Function("sqrt", squareRoot, new(func(int) float64), new(func(float64) float64)),
		ofReals("exp", math.Exp), ofReals("log", math.Log), ofReals("sin", math.Sin), ofReals("cos", math.Cos),
	}
	if exact {
		options = append(options, exactOptions()...)
	}
	program, err := expr.Compile(source, options...)
	if err != nil {
		return nil, mistake(source, err)
	}
	return program, nil
}

// mistake says where in a text the library has found one.
func mistake(source string, err error) error {
	if located, ok := errors.AsType[*file.Error](err); ok {
		return &ExpressionError{source, located.Column, located.Message}
	}
	return &ExpressionError{source, 0, err.Error()}
}

// integerDivision turns every / into a call of divide, because the language's
// own / always answers in floating point.
type integerDivision struct{}

func (integerDivision) Visit(node *ast.Node) {
	if binary, ok := (*node).(*ast.BinaryNode); ok && binary.Operator == "/" {
		ast.Patch(node, callOf("divide", binary))
	}
}

// callOf is a call of a function with both sides of an operator.
func callOf(function string, binary *ast.BinaryNode) *ast.CallNode {
	return &ast.CallNode{
		Callee:    &ast.IdentifierNode{Value: function},
		Arguments: []ast.Node{binary.Left, binary.Right},
	}
}

// realRemainder turns a % of what may be a fraction into a call of remainder: the language's own % takes integers.
type realRemainder struct{}

func (realRemainder) Visit(node *ast.Node) {
	if binary, ok := (*node).(*ast.BinaryNode); ok && binary.Operator == "%" && (!isWhole(binary.Left) ||
		!isWhole(binary.Right)) {
		ast.Patch(node, callOf("remainder", binary))
	}
}

var errDivisionByZero = errors.New("division by zero")

// dividing is a function with a denominator, of two integers or of numbers one of which may be a fraction.
func dividing(name string, whole func(a, b int) int, other func(a, b float64) float64) expr.Option {
	return expr.Function(name, func(arguments ...any) (any, error) {
		a, aInteger := arguments[0].(int)
		b, bInteger := arguments[1].(int)
		switch {
		case toFloat(arguments[1]) == 0:
			return nil, errDivisionByZero
		case aInteger && bInteger:
			return whole(a, b), nil
		}
		return other(toFloat(arguments[0]), toFloat(arguments[1])), nil
	}, new(func(int, int) int), new(func(float64, float64) float64), new(func(int, float64) float64),
		new(func(float64, int) float64))
}

func toFloat(x any) float64 {
	if n, ok := x.(int); ok {
		return float64(n)
	}
	return x.(float64)
}

func ceilingDivide(arguments ...any) (any, error) {
	a, b := arguments[0].(int), arguments[1].(int)
	if b == 0 {
		return nil, errDivisionByZero
	}
	quotient := a / b
	if a%b != 0 && (a > 0) == (b > 0) {
		quotient++
	}
	return quotient, nil
}

func isPowerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }

// ofReals is a function of real numbers.
func ofReals(name string, of func(float64) float64) expr.Option {
	return expr.Function(name, func(arguments ...any) (any, error) { return of(toFloat(arguments[0])), nil },
		new(func(int) float64), new(func(float64) float64))
}

func squareRoot(arguments ...any) (any, error) {
	x := toFloat(arguments[0])
	if x < 0 {
		return nil, fmt.Errorf("square root of %v", x)
	}
	return math.Sqrt(x), nil
}

// What an expression may be: the parser is recursive.
const (
	longestExpression = 4096
	deepestExpression = 100
)

// checkSize refuses what no person has written.
func checkSize(source string) error {
	excerpt := source[:min(len(source), 40)] + "..."
	if len(source) > longestExpression {
		return &ExpressionError{excerpt, 0,
			fmt.Sprintf("%d characters long, at most %d are supported", len(source), longestExpression)}
	}
	depth := 0
	for at, r := range source {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if depth > deepestExpression {
			return &ExpressionError{excerpt, at, fmt.Sprintf("more than %d brackets inside each other", deepestExpression)}
		}
	}
	return nil
}

// freeNames returns the identifiers in the text that are not functions,
// sorted, each once.
func freeNames(source string) ([]string, error) {
	if err := checkSize(source); err != nil {
		return nil, err
	}
	tree, err := parser.Parse(source)
	if err != nil {
		return nil, mistake(source, err)
	}
	collector := &nameCollector{names: map[string]bool{}, called: map[string]bool{}}
	ast.Walk(&tree.Node, collector)
	for name := range collector.called {
		delete(collector.names, name)
	}
	return slices.Sorted(maps.Keys(collector.names)), nil
}

type nameCollector struct{ names, called map[string]bool }

func (c *nameCollector) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		c.names[n.Value] = true
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			c.called[callee.Value] = true
		}
	}
}

// checkResult insists on what an expression must answer with. The library's
// own options would convert: a fraction would become an integer silently.
func checkResult(source string, program *vm.Program, want Result) error {
	zero, err := typeOf(program)
	if err != nil {
		return &ExpressionError{source, 0, err.Error()}
	}
	if want != Anything && !slices.Contains(results[want].kinds, reflect.TypeOf(zero).Kind()) {
		return &ExpressionError{source, 0, fmt.Sprintf("expected %s, but this is a %T", results[want].name, zero)}
	}
	return nil
}

// typeOf returns a zero value of the type that a program answers with.
func typeOf(program *vm.Program) (any, error) {
	result := program.Node().Type()
	switch kind := result.Kind(); kind {
	case reflect.Int, reflect.Float64, reflect.Bool, reflect.String:
		return reflect.Zero(result).Interface(), nil
	default:
		return nil, fmt.Errorf("a result of type %s", kind)
	}
}
