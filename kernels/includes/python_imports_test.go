package includes

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestPythonImports(t *testing.T) {
	tree := fstest.MapFS{}
	for name, content := range map[string]string{
		"kernel.py": "import os, tiles as t\nfrom shared.order import grouped\nfrom .near import (\n    one,\n    two)\n" +
			"def f():\n    import late\n# import comment\n",
		"tiles.py": "from shared import table\n", "shared/__init__.py": "", "shared/order.py": "from .deep import *\n",
		"shared/table.py": "", "shared/deep.py": "", "near.py": "", "late.py": "", "unused.py": "", "comment.py": "",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	scanner := In(tree, nil)
	if err := scanner.Add("kernel.py"); err != nil {
		t.Fatal(err)
	}
	files, err := scanner.Files()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	want := []string{"kernel.py", "late.py", "near.py", "shared/__init__.py", "shared/deep.py", "shared/order.py",
		"shared/table.py", "tiles.py"}
	if !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
}
