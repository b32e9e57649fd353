package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page that tells people where to look names only what there is: folders and files by
// their path, and in a row of a table also files beside the one before.
func TestTheDesignNamesWhatThereIs(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	path := regexp.MustCompile(`^(cmd|search|space|kernels|objective|gate|studies|internal|docs)(/[\w.-]+)+$`)
	file := regexp.MustCompile(`^[\w-]+\.go$`)
	named := 0
	for line := range strings.Lines(string(page)) {
		folder := ""
		for _, found := range quoted.FindAllStringSubmatch(line, -1) {
			name := found[1]
			if file.MatchString(name) && folder != "" && strings.HasPrefix(line, "|") {
				name = folder + "/" + name
			}
			if !path.MatchString(name) {
				continue
			}
			named++
			info, err := os.Stat(filepath.Join(root, name))
			if err != nil {
				t.Errorf("there is no %s", name)
				continue
			}
			if folder = name; !info.IsDir() {
				folder = filepath.ToSlash(filepath.Dir(name))
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d names on the page", named)
	}
}
