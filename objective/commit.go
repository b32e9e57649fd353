package objective

import (
	"os/exec"
	"strings"
)

// Commit returns the commit that the sources are at, with a mark if they are
// changed, or nothing where that cannot be known.
func Commit(dir string) string {
	if dir == "" {
		return ""
	}
	head, err := exec.Command("git", "-C", dir, "rev-parse", "HEAD").Output()
	if err != nil {
		return ""
	}
	hash := strings.TrimSpace(string(head))
	if status, err := exec.Command("git", "-C", dir, "status", "--porcelain", "--", ".").Output(); err == nil && len(status) > 0 {
		hash += "-dirty"
	}
	return hash
}
