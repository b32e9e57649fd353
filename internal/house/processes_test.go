package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// starters are the functions of the libraries that start a program, and the type that does.
var starters = []string{"exec.Command", "exec.CommandContext", "exec.Cmd", "os.StartProcess", "syscall.StartProcess",
	"syscall.ForkExec", "syscall.Exec"}

// internal/process bounds, contains and kills what it starts. So nothing else starts a program, but for packages
// of tests.
func TestEveryProgramIsStartedInOneWay(t *testing.T) {
	allowed := 0
	eachFile(t, func(path string) error {
		folder := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(folder, "test") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			selected, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			library, ok := selected.X.(*ast.Ident)
			switch {
			case !ok || !slices.Contains(starters, library.Name+"."+selected.Sel.Name):
			case folder == root+"/internal/process":
				allowed++
			default:
				t.Errorf("%s: %s.%s starts a program; internal/process does that", set.Position(node.Pos()), library,
					selected.Sel)
			}
			return true
		})
		return nil
	})
	if allowed == 0 {
		t.Error("no program is started at all")
	}
}
