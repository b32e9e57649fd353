package space

import (
	"fmt"
	"math/bits"
	"reflect"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
)

// exactly are the functions that sums and products of integers become in an exact
// scope, by operator.
var exactly = map[string]string{"+": "exactSum", "-": "exactDifference", "*": "exactProduct"}

// exactOptions make an integer that does not fit 64 bits an error: the language lets
// it wrap around without a word.
func exactOptions() []expr.Option {
	whole := new(func(int, int) int)
	return []expr.Option{
		expr.Patch(exactArithmetic{}),
		expr.Function("exactSum", func(a ...any) (any, error) {
			x, y := a[0].(int), a[1].(int)
			return fitting(x+y, (x+y > x) == (y > 0) || y == 0, x, "+", y)
		}, whole),
		expr.Function("exactDifference", func(a ...any) (any, error) {
			x, y := a[0].(int), a[1].(int)
			return fitting(x-y, (x-y < x) == (y > 0) || y == 0, x, "-", y)
		}, whole),
		expr.Function("exactProduct", func(a ...any) (any, error) {
			x, y := a[0].(int), a[1].(int)
			high, low := bits.Mul64(magnitude(x), magnitude(y))
			limit := uint64(1) << 63
			if (x < 0) == (y < 0) {
				limit--
			}
			return fitting(x*y, high == 0 && low <= limit, x, "*", y)
		}, whole),
	}
}

func magnitude(n int) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func fitting(result int, fits bool, x int, operator string, y int) (any, error) {
	if !fits {
		return nil, fmt.Errorf("%d %s %d does not fit 64 bits", x, operator, y)
	}
	return result, nil
}

// exactArithmetic turns sums and products of integers into calls.
type exactArithmetic struct{}

func (exactArithmetic) Visit(node *ast.Node) {
	binary, ok := (*node).(*ast.BinaryNode)
	if !ok || exactly[binary.Operator] == "" || !isWhole(binary.Left) || !isWhole(binary.Right) {
		return
	}
	call := callOf(exactly[binary.Operator], binary)
	ast.Patch(node, call)
	call.SetType(binary.Type()) // what it is part of is visited next
}

func isWhole(node ast.Node) bool {
	t := node.Type()
	return t != nil && t.Kind() == reflect.Int
}
