package house

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"testing"
	"unicode/utf8"
)

// mostColumns is how wide a line of code may be, tests included. A tab counts as one column.
const mostColumns = 120

// Lines inside a raw string are text and may be wider: a message of another program, a script, a recorded answer.
func TestNoLineIsTooWide(t *testing.T) {
	eachFile(t, func(path string) error {
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		raw := map[int]bool{}
		ast.Inspect(file, func(node ast.Node) bool {
			if s, ok := node.(*ast.BasicLit); ok && s.Kind == token.STRING && s.Value[0] == '`' {
				for line := set.Position(s.Pos()).Line; line <= set.Position(s.End()).Line; line++ {
					raw[line] = true
				}
			}
			return true
		})
		for i, line := range bytes.Split(source, []byte("\n")) {
			if width := utf8.RuneCount(line); width > mostColumns && !raw[i+1] {
				t.Errorf("%s:%d has %d columns, %d are allowed", path, i+1, width, mostColumns)
			}
		}
		return nil
	})
}
