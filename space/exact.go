package space

import (
	"fmt"
	"math"
	"reflect"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
)

// exactly are the functions that sums and products of integers become in an exact scope, by operator.
var exactly = map[string]struct {
	name string
	of   func(x, y int) (result int, fits bool)
}{
	"+": {"exactSum", func(x, y int) (int, bool) { return x + y, (x+y > x) == (y > 0) }},
	"-": {"exactDifference", func(x, y int) (int, bool) { return x - y, (x-y < x) == (y > 0) }},
	"*": {"exactProduct", func(x, y int) (int, bool) {
		return x * y, x == 0 || x*y/x == y && (x != -1 || y != math.MinInt) // the negative of the last is itself
	}},
}

// exactOptions make an integer that does not fit 64 bits an error: the language lets it wrap around without a word.
func exactOptions() []expr.Option {
	options := []expr.Option{expr.Patch(exactArithmetic{})}
	for operator, exact := range exactly {
		options = append(options, expr.Function(exact.name, func(a ...any) (any, error) {
			x, y := a[0].(int), a[1].(int)
			if result, fits := exact.of(x, y); fits {
				return result, nil
			}
			return nil, fmt.Errorf("%d %s %d does not fit 64 bits", x, operator, y)
		}, new(func(int, int) int)))
	}
	return options
}

// exactArithmetic turns sums and products of integers into calls.
type exactArithmetic struct{}

func (exactArithmetic) Visit(node *ast.Node) {
	binary, ok := (*node).(*ast.BinaryNode)
	if !ok || exactly[binary.Operator].of == nil || !isWhole(binary.Left) || !isWhole(binary.Right) {
		return
	}
	call := callOf(exactly[binary.Operator].name, binary)
	ast.Patch(node, call)
	call.SetType(binary.Type()) // what it is part of is visited next
}

func isWhole(node ast.Node) bool {
	t := node.Type()
	return t != nil && t.Kind() == reflect.Int
}
