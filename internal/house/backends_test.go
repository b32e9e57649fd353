package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// Nobody above the backends names one: who needs to know something asks kernels.Backend or an
// interface of package platform. Below kernels, what reads and writes sources knows their languages.
func TestNobodyNamesABackend(t *testing.T) {
	constants, names := []string{"Host", "CUDA", "Command"}, []string{`"host"`, `"cuda"`, `"command"`, `"replay"`}
	own := []string{"kernels/", "objective/host/", "objective/cuda/", "objective/command/"}
	eachFile(t, func(path string) error {
		name := strings.TrimPrefix(path, root+"/")
		if strings.HasSuffix(path, "_test.go") ||
			slices.ContainsFunc(own, func(folder string) bool { return strings.HasPrefix(name, folder) }) {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if compared, ok := n.(*ast.BinaryExpr); ok && (compared.Op == token.EQL || compared.Op == token.NEQ) {
				if literal, ok := compared.Y.(*ast.BasicLit); ok && slices.Contains(names, literal.Value) {
					t.Errorf("%s: compared with %s: ask kernels.Backend instead", set.Position(n.Pos()), literal.Value)
				}
			}
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := selector.X.(*ast.Ident); ok && of.Name == "kernels" && slices.Contains(constants, selector.Sel.Name) {
				t.Errorf("%s: kernels.%s: ask kernels.Backend instead", set.Position(n.Pos()), selector.Sel.Name)
			}
			return true
		})
		return nil
	})
}
