package objective

import (
	"fmt"
	"os"

	"pawl/objective/cache"
)

// unchanged returns an error unless the binary's file is the one that was
// compiled: what is checked, what is timed and what is suggested must be the
// same machine code. It is called before a worker loads the file and again
// after it was last used.
func (b Binary) unchanged() error {
	content, err := os.ReadFile(b.Path)
	if err != nil {
		return fmt.Errorf("the compiled kernel is gone: %w; run the command again to compile it anew", err)
	}
	if found := cache.Digest(content); found != b.File {
		return fmt.Errorf("the compiled kernel %s was changed while it was in use: its digest is %.12s, that of what was compiled %.12s; nothing that was measured with it counts, find out who writes to the compile cache", b.Path, found, b.File)
	}
	return nil
}
