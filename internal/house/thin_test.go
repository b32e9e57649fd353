package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// notForCommands are the packages that nothing in cmd imports, and why. A baseline is
// read and moved through gate/ratchet only: without the package there is no File to
// change and no Update or Write to call.
var notForCommands = map[string]string{
	"pawl/internal/stats": "statistics are computed in libraries",
	"gonum.org/v1/gonum":  "statistics are computed in libraries",
	"database/sql":        "studies has the database",
	"pawl/objective/host": "objective/devices chooses the backend",
	"pawl/objective/cuda": "objective/devices chooses the backend",
	"pawl/gate/baseline":  "gate/ratchet decides when a baseline moves",
}

// A command binds its flags to a struct of options and calls a library with them. So
// the flag library's context ends in the Action, a function literal beside the flags:
// no other function takes one, and nothing keeps one.
func TestCommandsAreThin(t *testing.T) {
	seen := map[string]bool{}
	eachFile(t, func(path string) error {
		name, err := filepath.Rel(root, path)
		if err != nil || !strings.HasPrefix(name, "cmd/") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		seen[filepath.Dir(name)] = true
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		complain := func(at token.Pos, format string, arguments ...any) {
			t.Errorf("%s:%d: "+format, append([]any{name, files.Position(at).Line}, arguments...)...)
		}
		for _, spec := range file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			for library, why := range notForCommands {
				// pages are a reader of the libraries, as reports are
				pages := filepath.Dir(name) == "cmd/pawl/pages"
				if !pages && (imported == library || strings.HasPrefix(imported, library+"/")) {
					complain(spec.Pos(), "imports %s: %s", imported, why)
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				for _, field := range n.Type.Params.List {
					if isContext(field.Type) {
						complain(n.Pos(), "%s takes a *cli.Context", n.Name)
					}
				}
			case *ast.StructType:
				for _, field := range n.Fields.List {
					if isContext(field.Type) {
						complain(n.Pos(), "a struct keeps a *cli.Context")
					}
				}
			}
			return true
		})
		return nil
	})
	for _, line := range inside["cmd"] {
		for _, pkg := range line {
			if !seen[pkg] {
				t.Errorf("no file of %s was looked at", pkg)
			}
		}
	}
}

// isContext reports whether a type is *cli.Context.
func isContext(e ast.Expr) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	selected, ok := star.X.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	library, ok := selected.X.(*ast.Ident)
	return ok && library.Name == "cli" && selected.Sel.Name == "Context"
}
