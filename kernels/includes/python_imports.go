package includes

import (
	"path"
	"regexp"
	"strings"
)

// An import of Python: what follows import, or what follows from with what is taken of it. One
// inside a function or a text counts too.
var pythonImport = regexp.MustCompile(
	`(?m)^[ \t]*(?:import[ \t]+([\w., \t]+)|from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*(?:\(([^)]*)\)|([^\n#]*)))`)

// imports reads the modules that a Python file imports from its folder or from that of the
// sources. Any name after from may be a module or something in one.
func (s *Scanner) imports(name string, content []byte) error {
	for _, match := range pythonImport.FindAllSubmatch(content, -1) {
		var modules []string
		for module := range strings.SplitSeq(string(match[1]), ",") {
			modules = append(modules, first(module))
		}
		if from := string(match[2]); from != "" {
			modules = append(modules, from)
			for part := range strings.SplitSeq(string(match[3])+string(match[4]), ",") {
				if part = first(part); part != "" && part != "*" {
					modules = append(modules, strings.TrimSuffix(from, ".")+"."+part)
				}
			}
		}
		for _, module := range modules {
			if err := s.module(name, module); err != nil {
				return err
			}
		}
	}
	return nil
}

// first is the name before "as".
func first(text string) string {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}

// module reads a module by its dotted name: its file, or its package with those that hold it.
// Leading dots count folders upward from that of the file.
func (s *Scanner) module(from, dotted string) error {
	folders := []string{path.Dir(from), s.dir}
	if rest := strings.TrimLeft(dotted, "."); len(rest) < len(dotted) {
		folder := path.Dir(from)
		for range len(dotted) - len(rest) - 1 {
			folder = path.Dir(folder)
		}
		folders, dotted = []string{folder}, rest
	}
	for _, folder := range folders {
		at := folder
		for part := range strings.SplitSeq(dotted, ".") {
			at = path.Join(at, part)
			for _, file := range []string{at + ".py", path.Join(at, "__init__.py")} {
				if err := s.readIfThere(file); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
