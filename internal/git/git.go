// Package git asks git about a repository: its commits, and the files in them, and makes
// commits beside the checkout. It runs git without a shell, and nothing that a repository
// configures runs with it.
package git

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/internal/process"
)

// safe are the options of every call. Hooks, monitors of the file system and signatures
// are programs that a repository's configuration names.
var safe = []string{
	"--literal-pathspecs", "--no-pager", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false",
	"-c", "log.showSignature=false", "-c", "i18n.logOutputEncoding=UTF-8",
}

// elsewhere are the variables by which git, when it runs a hook, names its own
// repository. Here the folder says which one is meant.
var elsewhere = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
}

// asPushed are the variables of every call: the history is the one that was pushed, and not the one that
// replacement references and grafts in the repository's folder make of it.
var asPushed = []string{
	"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=" + os.DevNull, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
	"LC_ALL=C",
}

// Error is a call of git that failed.
type Error struct {
	// Command is git's, such as push.
	Command string
	// Err says how it ended, Stderr what it printed there, Stdout what it answered.
	Err            error
	Stderr, Stdout string
}

func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string {
	message, _, _ := strings.Cut(strings.TrimSpace(e.Stderr), "\n")
	return fmt.Sprintf("git %s: %v: %s", e.Command, e.Err, message)
}

// Run runs git in a folder and returns what it prints. It takes no lock and asks
// nothing. An argument that comes from a user must not begin with a dash. Stdin may be
// nil. An error is an [*Error].
func Run(ctx context.Context, folder string, stdin io.Reader, arguments ...string) ([]byte, error) {
	return RunWith(ctx, folder, nil, stdin, arguments...)
}

// RunWith is Run with further variables for git, such as NAME=value. One that Run takes
// away, such as GIT_INDEX_FILE, can be set so.
func RunWith(ctx context.Context, folder string, variables []string, stdin io.Reader,
	arguments ...string) ([]byte, error) {
	named := func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(elsewhere, name)
	}
	stdout, stderr := &process.Output{Keep: math.MaxInt}, &process.Output{Keep: math.MaxInt}
	_, err := process.Run(ctx, process.Command{
		Line: slices.Concat([]string{"git"}, safe, []string{"-C", folder}, arguments), Input: stdin,
		Environment: slices.Concat(slices.DeleteFunc(os.Environ(), named),
			asPushed, variables),
		Stdout: stdout, Stderr: stderr, KeepGroup: true, Secrets: true, // git has a daemon that remembers passwords
	})
	if err != nil {
		return nil, &Error{arguments[0], err, stderr.String(), stdout.String()}
	}
	return stdout.Bytes(), nil
}

// Line is Run for an answer of one line.
func Line(ctx context.Context, folder string, arguments ...string) (string, error) {
	output, err := Run(ctx, folder, nil, arguments...)
	return strings.TrimSuffix(string(output), "\n"), err
}

// Resolve returns the hash of the commit that a name means.
func Resolve(ctx context.Context, folder, name string) (string, error) {
	return Line(ctx, folder, "rev-parse", "--verify", "--end-of-options", name+"^{commit}")
}

// Top returns the root of the repository that a folder is in.
func Top(ctx context.Context, folder string) (string, error) {
	return Line(ctx, folder, "rev-parse", "--show-toplevel")
}

// dirty ends a commit whose files are changed.
const dirty = "-dirty"

// CheckedOut returns the commit that the files of a folder are at, which ends in -dirty if they
// are changed, or nothing where that cannot be known.
func CheckedOut(folder string) string {
	if folder == "" {
		return ""
	}
	hash, err := Line(context.Background(), folder, "rev-parse", "HEAD")
	if err != nil {
		return ""
	}
	if status, err := Run(context.Background(), folder, nil, "status", "--porcelain", "--", "."); err == nil &&
		len(status) > 0 {
		hash += dirty
	}
	return hash
}

// Hash returns the hash of what CheckedOut has returned, and whether files were changed.
func Hash(commit string) (hash string, changed bool) { return strings.CutSuffix(commit, dirty) }

// Has reports whether a commit is part of another one's history.
func Has(ctx context.Context, folder, tip, commit string) (bool, error) {
	_, err := Run(ctx, folder, nil, "merge-base", "--is-ancestor", commit, tip)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 { // no, and nothing is wrong
		return false, nil
	}
	return err == nil, err
}

// Remote is the origin of the repository that a folder is in.
type Remote struct {
	Folder string
	// Variables are those of RunWith, such as an [Authorization].
	Variables []string
	// Patience bounds each call.
	Patience time.Duration
}

// Run runs git where it speaks to the remote.
func (r Remote) Run(ctx context.Context, arguments ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	return RunWith(ctx, r.Folder, r.Variables, nil, arguments...)
}

// Tracked is what origin's branch was at when it was fetched last, as git names it.
func Tracked(branch string) string { return "refs/remotes/origin/" + branch }

// Fetch returns the commit that a branch of the remote is at, with its history; empty where
// there is no such branch.
func (r Remote) Fetch(ctx context.Context, branch string) (string, error) {
	tracked := Tracked(branch)
	_, err := r.Run(ctx, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "origin",
		"+refs/heads/"+branch+":"+tracked)
	var failed *Error
	switch {
	case errors.As(err, &failed) && strings.Contains(failed.Stderr, "find remote ref"):
		return "", nil
	case err != nil:
		return "", err
	}
	return Resolve(ctx, r.Folder, tracked)
}

// Authorization returns the variables that let git speak to a server with a token. The
// token is neither on a command line, which every process can read, nor in a file.
func Authorization(server, token string) []string {
	if server == "" || token == "" {
		return nil
	}
	header := "AUTHORIZATION: basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))
	key := "http." + strings.TrimSuffix(server, "/") + "/.extraheader"
	// An empty value first: a checkout may have left a header of its own, and two are refused.
	return []string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=" + key, "GIT_CONFIG_VALUE_0=", "GIT_CONFIG_KEY_1=" + key,
		"GIT_CONFIG_VALUE_1=" + header}
}

// Locate returns the root of the repository that the program runs in and the name there of
// a file, with slashes. Nothing on the way to the file is followed: a branch may have
// deleted its folder, or made a link of it. Inside is false for a file elsewhere.
func Locate(ctx context.Context, path string) (root, name string, inside bool, err error) {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return "", "", false, err
	}
	root, err = Top(ctx, here)
	if err != nil {
		return "", "", false, err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(here, path)
	}
	name, err = filepath.Rel(root, path)
	return root, filepath.ToSlash(name), err == nil && filepath.IsLocal(name), nil
}
