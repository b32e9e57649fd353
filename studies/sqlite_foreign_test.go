package studies

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Another program's database, and what is no file, is refused by who reads and who writes, and
// is left as it is, with nothing beside it.
func TestWhatIsNotOursIsLeftAlone(t *testing.T) {
	for name, test := range map[string]struct {
		make func(path string)
		want string
	}{
		"tables": {func(path string) { execute(t, path, "CREATE TABLE bookmarks (a)", "CREATE TABLE z (a)") },
			"is somebody else's: it has 2 tables (bookmarks, z), and nothing of pawl's; name another file"},
		"its version": {func(path string) { execute(t, path, "CREATE TABLE a (a)", "PRAGMA user_version = 3") },
			"is somebody else's: it has 1 table (a)"},
		"its studies": {func(path string) { execute(t, path, "CREATE TABLE studies (a)") },
			"is somebody else's: it has 1 table (studies)"},
		"a folder": {func(path string) { _ = os.Mkdir(path, 0o755) }, "is a folder: name a file"},
		"a pipe":   {func(path string) { _ = syscall.Mkfifo(path, 0o644) }, "is a device, a pipe or a socket: name a file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "other.db")
			test.make(path)
			for _, open := range []func(context.Context, string) (*Store, error){Open, OpenExisting} {
				before := bytesAt(path)
				_, err := open(t.Context(), path)
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v", err)
				}
				if bytesAt(path) != before {
					t.Error("it was changed")
				}
			}
			if beside, _ := filepath.Glob(path + "?*"); len(beside) > 0 {
				t.Errorf("left behind: %v", beside)
			}
		})
	}
}

// bytesAt is empty for what is no file.
func bytesAt(path string) string {
	if regular(path) != nil {
		return ""
	}
	text, _ := os.ReadFile(path)
	return string(text)
}
