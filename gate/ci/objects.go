package ci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"pawl/internal/git"
)

// The author where git knows none: that is whose token pushes.
const (
	authorName  = "github-actions[bot]"
	authorEmail = "41898282+github-actions[bot]@users.noreply.github.com"
)

// git runs git in the repository.
func (s *publishing) git(ctx context.Context, stdin io.Reader, arguments ...string) ([]byte, error) {
	return git.Run(ctx, s.root, stdin, arguments...)
}

// line returns the one line that git prints.
func (s *publishing) line(ctx context.Context, arguments ...string) (string, error) {
	output, err := s.git(ctx, nil, arguments...)
	return strings.TrimSpace(string(output)), err
}

// remote runs git where it speaks to the remote, for a bounded time.
func (s *publishing) remote(ctx context.Context, arguments ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	return git.RunWith(ctx, s.root, git.Authorization(s.Server, s.Token), nil, arguments...)
}

// fetch returns the commit that the branch is at, with its history.
func (s *publishing) fetch(ctx context.Context) (string, error) {
	tracked := "refs/remotes/" + s.Remote + "/" + s.Branch
	_, err := s.remote(ctx, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", s.Remote, "+refs/heads/"+s.Branch+":"+tracked)
	var failed *git.Error
	switch {
	case errors.As(err, &failed) && strings.Contains(failed.Stderr, "find remote ref"):
		return "", fmt.Errorf("%s has no branch %s", s.Remote, s.Branch)
	case err != nil:
		return "", again{err}
	}
	return s.line(ctx, "rev-parse", "--verify", tracked+"^{commit}")
}

// has reports whether a commit is part of another one's history.
func (s *publishing) has(ctx context.Context, tip, commit string) (bool, error) {
	_, err := s.git(ctx, nil, "merge-base", "--is-ancestor", commit, tip)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // no, and nothing is wrong
		return false, nil
	}
	return err == nil, err
}

// commit makes the commit on a tip; no branch points to it yet.
func (s *publishing) commit(ctx context.Context, tip string, c change) (hash string, err error) {
	made := git.Commit{Onto: tip, Message: message(c), Identity: s.identity(ctx)}
	for _, file := range []git.File{{Name: s.name, Content: c.file}, {Name: s.history, Content: c.history}} {
		if file.Content != nil {
			made.Files = append(made.Files, file)
		}
	}
	return made.Write(ctx, s.root)
}

// identity returns the variables that name an author where nobody has told git one.
func (s *publishing) identity(ctx context.Context) []string {
	// Asked so, git does not guess one from the name of the machine.
	strict := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.useConfigOnly", "GIT_CONFIG_VALUE_0=true"}
	if _, err := git.RunWith(ctx, s.root, strict, nil, "var", "GIT_COMMITTER_IDENT"); err == nil {
		if _, err = git.RunWith(ctx, s.root, strict, nil, "var", "GIT_AUTHOR_IDENT"); err == nil {
			return []string{} // git's own
		}
	}
	return git.Identity(authorName, authorEmail)
}

// readIfThere returns a file's content, nothing where there is none.
func readIfThere(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}
