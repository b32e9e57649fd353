// Package git asks git about a repository: its commits, and the files in them. It runs
// git without a shell, and nothing that a repository configures runs with it.
package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// safe are the options of every call. Hooks, monitors of the file system and signatures
// are programs that a repository's configuration names.
var safe = []string{
	"--literal-pathspecs", "--no-pager", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false",
	"-c", "log.showSignature=false", "-c", "i18n.logOutputEncoding=UTF-8",
}

// elsewhere are the variables by which git, when it runs a hook, names its own
// repository. Here the folder says which one is meant.
var elsewhere = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX"}

// Run runs git in a folder and returns what it prints. It takes no lock and asks
// nothing. An argument that comes from a user must not begin with a dash. Stdin may be
// nil.
func Run(ctx context.Context, folder string, stdin io.Reader, arguments ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", slices.Concat(safe, []string{"-C", folder}, arguments)...)
	named := func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(elsewhere, name)
	}
	cmd.Env = append(slices.DeleteFunc(os.Environ(), named), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = stdin, &stderr
	output, err := cmd.Output()
	if err != nil {
		message, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return nil, fmt.Errorf("git %s: %w: %s", arguments[0], err, message)
	}
	return output, nil
}
