package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// A struct with more fields has several readers, each of a part: give the parts names. More functions are an interface,
// whose implementations have names.
const (
	mostFields         = 19
	mostFunctionFields = 3
)

// manyFields are the structs that may have more, and why.
var manyFields = map[string]string{}

func TestNoStructIsForEverybody(t *testing.T) {
	seen := map[string]bool{}
	functions := map[string]bool{} // named types, by package
	var files []*ast.File
	var folders []string
	set := token.NewFileSet()
	eachFile(t, func(path string) error {
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), root+"/")
		files, folders = append(files, file), append(folders, folder)
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				if _, ok := spec.Type.(*ast.FuncType); ok {
					functions[folder+"."+spec.Name.Name] = true
				}
			}
			return true
		})
		return nil
	})
	for i, file := range files {
		name := "" // of the type that the struct is in
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				name = folders[i] + "." + spec.Name.Name
			}
			s, ok := node.(*ast.StructType)
			if !ok {
				return true
			}
			called := 0
			for _, field := range s.Fields.List {
				_, literal := field.Type.(*ast.FuncType)
				if ident, ok := field.Type.(*ast.Ident); literal || ok && functions[folders[i]+"."+ident.Name] {
					called += max(1, len(field.Names))
				}
			}
			if _, excepted := manyFields[name]; excepted {
				seen[name] = true
			} else if s.Fields.NumFields() > mostFields {
				t.Errorf("%s: a struct of %d fields, %d are allowed", set.Position(s.Pos()), s.Fields.NumFields(), mostFields)
			}
			if called > mostFunctionFields {
				t.Errorf("%s: a struct of %d functions, %d are allowed", set.Position(s.Pos()), called, mostFunctionFields)
			}
			return true
		})
	}
	for name := range manyFields {
		if !seen[name] {
			t.Errorf("there is no %s: strike it from the exceptions", name)
		}
	}
}
