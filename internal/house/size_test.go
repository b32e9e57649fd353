package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// What is larger is several things. Tests are not counted, nor packages that are called so.
const (
	mostLinesOfFile    = 400
	mostLinesOfPackage = 4200
	// What is added pays by what is removed. Only the reader of C, kernels/csource, did not, which took the place of
	// patterns. Lower it when lines have gone.
	mostLinesOfAll = 85_113
	mostMethods    = 5
)

func TestNothingIsTooLarge(t *testing.T) {
	lines := map[string]int{}
	eachFile(t, func(path string) error {
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
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
		if strings.HasSuffix(folder, "test") {
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
