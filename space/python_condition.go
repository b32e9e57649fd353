package space

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// inPython are operators, functions and constants in Python. Those that begin with an underscore are functions that
// the file must have: Python's own operators round down.
var inPython = map[string]string{
	"and": "and", "&&": "and", "or": "or", "||": "or", "not": "not ", "!": "not ", "in": "in",
	"true": "True", "false": "False", "==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
	"+": "+", "-": "-", "*": "*", "/": "_divide", "%": "_remainder",
	"cdiv": "_cdiv", "pow2": "_pow2", "min": "min", "max": "max", "abs": "abs",
}

// Python returns the expression in Python, over a dictionary v with the values of its names.
func (e *Expression) Python() (string, error) {
	w := pythonWriter{definitions: e.definitions}
	text := w.text(e.source)
	if w.unknown != "" {
		return "", fmt.Errorf("expression %q: %s cannot be written in Python", e.source, w.unknown)
	}
	return text, nil
}

// pythonWriter turns each node, the inner ones first, into a name that is its text.
type pythonWriter struct {
	definitions []definition
	unknown     string
}

func (w *pythonWriter) text(source string) string {
	tree, err := parser.Parse(source)
	if err != nil {
		panic("space: " + err.Error()) // it was compiled
	}
	ast.Walk(&tree.Node, w)
	return tree.Node.String()
}

func (w *pythonWriter) Visit(node *ast.Node) {
	text, named := (*node).String(), ""
	switch n := (*node).(type) {
	case *ast.IntegerNode, *ast.StringNode, *ast.ArrayNode:
	case *ast.BoolNode:
		text = inPython[text]
	case *ast.IdentifierNode:
		if at := slices.IndexFunc(w.definitions, func(d definition) bool { return d.name == text }); at >= 0 {
			text = w.text(w.definitions[at].source)
		} else if text = inPython[n.Value]; text == "" {
			text = fmt.Sprintf("v[%q]", n.Value)
		}
	case *ast.UnaryNode:
		named, text = n.Operator, fmt.Sprintf("(%s%s)", inPython[n.Operator], n.Node)
	case *ast.BinaryNode:
		named, text = n.Operator, fmt.Sprintf("(%s %s %s)", n.Left, inPython[n.Operator], n.Right)
		if function := inPython[n.Operator]; strings.HasPrefix(function, "_") {
			text = fmt.Sprintf("%s(%s, %s)", function, n.Left, n.Right)
		}
	case *ast.ConditionalNode:
		text = fmt.Sprintf("(%s if %s else %s)", n.Exp1, n.Cond, n.Exp2)
	case *ast.BuiltinNode:
		named = n.Name
	case *ast.CallNode:
		named = strings.TrimPrefix(n.Callee.String(), "_")
	default:
		named = text
	}
	if named != "" && inPython[named] == "" {
		w.unknown = named
	}
	*node = &ast.IdentifierNode{Value: text}
}
