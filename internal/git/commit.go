package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The author where git knows none, as on CI: that is whose token pushes there.
const (
	botName  = "github-actions[bot]"
	botEmail = "41898282+github-actions[bot]@users.noreply.github.com"
)

// ownTrailer ends the message of each of pawl's commits, with the tree that pawl has made: where
// somebody has changed the files since, the tree is another one, and the commit is theirs.
const ownTrailer = "Pawl-Tree"

// File is a file in a commit: its name from the repository's root, with slashes.
type File struct {
	Name    string
	Content []byte
}

// Commit is a commit to be made, by whoever git works for here, and signed as they sign. It is
// written from objects and an index of its own: the checkout and its index are neither read nor
// written, and no branch moves.
type Commit struct {
	// Onto is the commit below it; empty for the first one of a branch.
	Onto string
	// Files are written over what Onto has.
	Files   []File
	Message string
}

// Write makes the commit and returns its hash. A file keeps its mode; what is no plain
// file in Onto, or lies below something that is no folder there, is an error.
func (c Commit) Write(ctx context.Context, folder string) (hash string, err error) {
	temporary, err := os.MkdirTemp("", "pawl-index-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(temporary, "index")}
	if _, err := RunWith(ctx, folder, index, nil, "read-tree", cmp.Or(c.Onto, "--empty")); err != nil {
		return "", err
	}
	for _, file := range c.Files {
		mode, err := fileMode(ctx, folder, c.Onto, file.Name)
		if err != nil {
			return "", err
		}
		blob, err := line(ctx, folder, nil, bytes.NewReader(file.Content), "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		if _, err := RunWith(ctx, folder, index, nil, "update-index", "--add", "--cacheinfo",
			mode+","+blob+","+file.Name); err != nil {
			return "", err
		}
	}
	tree, err := line(ctx, folder, index, nil, "write-tree")
	if err != nil {
		return "", err
	}
	message := fmt.Sprintf("%s\n\n%s: %s\n", strings.TrimRight(c.Message, "\n"), ownTrailer, tree)
	arguments := []string{"commit-tree", tree, "-F", "-"}
	if c.Onto != "" {
		arguments = append(arguments, "-p", c.Onto)
	}
	if signs, err := Line(ctx, folder, "config", "--type=bool", "--get", "commit.gpgsign"); err == nil && signs == "true" {
		arguments = append(arguments, "-S") // as git commit does there
	}
	return line(ctx, folder, identity(ctx, folder), strings.NewReader(message), arguments...)
}

// identity returns the variables that name author and committer where nobody has told git who it is
// working for.
func identity(ctx context.Context, folder string) []string {
	if Who(ctx, folder) != "" {
		return nil
	}
	return []string{"GIT_AUTHOR_NAME=" + botName, "GIT_AUTHOR_EMAIL=" + botEmail, "GIT_COMMITTER_NAME=" + botName,
		"GIT_COMMITTER_EMAIL=" + botEmail}
}

// Who returns the name and the address that git commits by, empty where nobody has told it.
func Who(ctx context.Context, folder string) string {
	// Asked so, git does not guess one from the name of the machine.
	strict := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.useConfigOnly", "GIT_CONFIG_VALUE_0=true"}
	if _, err := line(ctx, folder, strict, nil, "var", "GIT_COMMITTER_IDENT"); err != nil {
		return ""
	}
	author, err := line(ctx, folder, strict, nil, "var", "GIT_AUTHOR_IDENT")
	if at := strings.LastIndex(author, ">"); err == nil && at > 0 {
		return author[:at+1]
	}
	return ""
}

// fileMode returns the mode of a file in a commit, that of a plain one where it is new.
func fileMode(ctx context.Context, folder, commit, name string) (string, error) {
	if commit == "" {
		return "100644", nil
	}
	output, err := Run(ctx, folder, nil, "ls-tree", "-z", "--full-tree", commit, "--", name)
	if err != nil {
		return "", err
	}
	switch mode, _, _ := strings.Cut(string(output), " "); mode {
	case "":
		return "100644", nil
	case "100644", "100755":
		return mode, nil
	default:
		return "", fmt.Errorf("%s is not a plain file in %.12s", name, commit)
	}
}

// Own reports whether pawl has made a commit and nobody has changed its files since.
func Own(ctx context.Context, folder, commit string) (bool, error) {
	shown, err := line(ctx, folder, nil, nil, "show", "--no-patch",
		"--format=%T%n%(trailers:key="+ownTrailer+",valueonly)", commit)
	tree, made, _ := strings.Cut(shown, "\n")
	return err == nil && tree == strings.TrimSpace(made), err
}

// Blob returns a file of a commit, by its name from the root, and whether it has it.
func Blob(ctx context.Context, folder, commit, name string) (content []byte, found bool, err error) {
	listed, err := Run(ctx, folder, nil, "ls-tree", "-z", "--full-tree", commit, "--", name)
	if err != nil || len(listed) == 0 {
		return nil, false, err
	}
	content, err = Run(ctx, folder, nil, "cat-file", "blob", commit+":"+name)
	return content, err == nil, err
}

// BranchError says that a branch cannot be made, or cannot be moved.
type BranchError struct{ Branch, Reason string }

func (e *BranchError) Error() string { return fmt.Sprintf("branch %q: %s", e.Branch, e.Reason) }

// MoveBranch makes a branch point to a commit of pawl's, or makes the branch, and returns
// the branch's last commit. That is the one it had where both say the same. A branch that
// is checked out somewhere stays, and so does one whose last commit is not pawl's own: the
// error is a *BranchError. Of two processes that move one branch, one fails.
func MoveBranch(ctx context.Context, folder, branch, commit string) (head string, err error) {
	reference := "refs/heads/" + branch
	if _, err := Run(ctx, folder, nil, "check-ref-format", reference); err != nil || strings.HasPrefix(branch, "-") ||
		branch == "HEAD" {
		return "", &BranchError{branch, "that is no name of a branch"}
	}
	worktrees, err := Run(ctx, folder, nil, "worktree", "list", "--porcelain")
	if err != nil {
		return "", err
	}
	if slices.Contains(strings.Split(string(worktrees), "\n"), "branch "+reference) {
		return "", &BranchError{branch, "it is checked out, and a checkout is never touched; name another branch"}
	}
	before, err := tip(ctx, folder, reference)
	if err != nil {
		return "", err
	}
	if before != "" {
		own, err := Own(ctx, folder, before)
		if err != nil {
			return "", err
		}
		if !own {
			return "",
				&BranchError{branch,
					fmt.Sprintf("its last commit %.12s is not pawl's; name another branch, or delete this one", before)}
		}
		if same, err := sameContent(ctx, folder, before, commit); same || err != nil {
			return before, err
		}
	}
	// With an empty old value the branch must not exist yet.
	_, err = Run(ctx, folder, nil, "update-ref", "-m", "commit by pawl", reference, commit, before)
	return commit, err
}

// tip returns the commit of a branch, nothing where there is no such branch.
func tip(ctx context.Context, folder, reference string) (string, error) {
	// The pattern also finds the branches below a folder of this name.
	listed, err := Run(ctx, folder, nil, "for-each-ref", "--format=%(objectname) %(refname)", reference)
	for text := range strings.Lines(string(listed)) {
		if hash, name, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " "); name == reference {
			return hash, err
		}
	}
	return "", err
}

// sameContent reports whether two commits differ in nothing but their dates.
func sameContent(ctx context.Context, folder, a, b string) (bool, error) {
	const content = "--format=%T %P%n%B"
	of := func(commit string) (string, error) {
		return line(ctx, folder, nil, nil, "show", "--no-patch", content, commit)
	}
	first, err := of(a)
	if err != nil {
		return false, err
	}
	second, err := of(b)
	return first == second, err
}

// line returns the one line that git prints.
func line(ctx context.Context, folder string, variables []string, stdin io.Reader,
	arguments ...string) (string, error) {
	output, err := RunWith(ctx, folder, variables, stdin, arguments...)
	return strings.TrimSpace(string(output)), err
}
