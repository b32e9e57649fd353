package house

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// What a file uses of this project stands apart from what it uses of others.
func TestOwnImportsStandApart(t *testing.T) {
	eachFile(t, func(path string) error {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		line, own := 0, false
		for _, spec := range file.Imports {
			at, isOwn := set.Position(spec.Pos()), strings.HasPrefix(spec.Path.Value, `"pawl/`)
			if at.Line == line+1 && isOwn != own {
				t.Errorf("%s: a blank line is missing between imports of this project and others", at)
			}
			line, own = at.Line, isOwn
		}
		return nil
	})
}
