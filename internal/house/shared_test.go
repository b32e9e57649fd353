package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Tests run beside each other, so none sets a variable of what it tests: the others would see
// it, and the race detector reports it on some days only. What a test wants otherwise is a
// field. A variable may be set before the first test.
func TestNoTestSetsAVariableOfTheProgram(t *testing.T) {
	variables := map[string]map[string]bool{} // by folder
	tests := map[string]*ast.File{}
	set := token.NewFileSet()
	eachFile(t, func(path string) error {
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, "_test.go") {
			tests[path] = file
			return nil
		}
		folder := filepath.Dir(path)
		if variables[folder] == nil {
			variables[folder] = map[string]bool{}
		}
		for name, object := range file.Scope.Objects {
			if object.Kind == ast.Var {
				variables[folder][name] = true
			}
		}
		return nil
	})
	if len(tests) == 0 {
		t.Fatal("no file has tests")
	}
	for path, file := range tests {
		for _, target := range assigned(file) {
			if name, shared := ofPackage(file, target, variables[filepath.Dir(path)]); shared {
				t.Errorf("%s: a test sets %s", set.Position(target.Pos()), name)
			}
		}
	}
}

// assigned returns what the functions of a file set, but for what runs before the tests.
func assigned(file *ast.File) (targets []ast.Expr) {
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Name.Name == "TestMain" || function.Name.Name == "init" {
			continue
		}
		ast.Inspect(function, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					targets = append(targets, n.Lhs...)
				}
			case *ast.IncDecStmt:
				targets = append(targets, n.X)
			}
			return true
		})
	}
	return targets
}

// ofPackage reports whether an expression is a variable of this package or of an imported
// one, or a part of it.
func ofPackage(file *ast.File, target ast.Expr, variables map[string]bool) (name string, shared bool) {
	switch e := target.(type) {
	case *ast.Ident:
		return e.Name, e.Obj == nil && variables[e.Name] // what this file declares is resolved
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && x.Obj == nil && isImport(file, x.Name) {
			return x.Name + "." + e.Sel.Name, true
		}
		return ofPackage(file, e.X, variables)
	case *ast.IndexExpr:
		return ofPackage(file, e.X, variables)
	case *ast.StarExpr:
		return ofPackage(file, e.X, variables)
	}
	return "", false
}

func isImport(file *ast.File, name string) bool {
	for _, spec := range file.Imports {
		if local := filepath.Base(strings.Trim(spec.Path.Value, `"`)); spec.Name == nil && local == name ||
			spec.Name != nil && spec.Name.Name == name {
			return true
		}
	}
	return false
}
