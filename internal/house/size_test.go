package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// What is larger is several things. Tests are not counted, nor the packages that import testing.
const (
	mostLinesOfFile    = 400
	mostLinesOfPackage = 4200
	// It only goes down: what is added pays by what is removed. Lower it when lines have gone.
	mostLinesOfAll = 85_595
	mostMethods    = 5
)

func TestNothingIsTooLarge(t *testing.T) {
	lines, tests := map[string]int{}, map[string]bool{}
	eachFile(t, func(path string) error {
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, imported := range file.Imports {
			if imported.Path.Value == `"testing"` {
				tests[filepath.Dir(path)] = true
			}
		}
		count := set.File(file.FileStart).LineCount()
		if lines[filepath.Dir(path)] += count; count > mostLinesOfFile {
			t.Errorf("%s has %d lines, %d are allowed", path, count, mostLinesOfFile)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if i, ok := node.(*ast.InterfaceType); ok && i.Methods.NumFields() > mostMethods {
				t.Errorf("%s: an interface of %d methods, %d are allowed", set.Position(i.Pos()), i.Methods.NumFields(),
					mostMethods)
			}
			return true
		})
		return nil
	})
	all := 0
	for folder, count := range lines {
		if tests[folder] {
			continue
		}
		if all += count; count > mostLinesOfPackage {
			t.Errorf("%s has %d lines, %d are allowed", folder, count, mostLinesOfPackage)
		}
	}
	if all > mostLinesOfAll {
		t.Errorf("all packages have %d lines, %d are allowed", all, mostLinesOfAll)
	}
}
