package githubtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// use does what an action does. What a real one would fail at is false; an action or an
// input that is not known here is an error.
func (p *player) use(ctx context.Context, name string, with map[string]string) (bool, error) {
	known := map[string][]string{
		"actions/checkout":          {"fetch-depth", "persist-credentials", "ref", "path", "repository"},
		"actions/setup-go":          {"go-version-file", "cache-dependency-path"},
		"actions/cache":             {"path", "key", "restore-keys"},
		"actions/cache/restore":     {"path", "key", "restore-keys"},
		"actions/cache/save":        {"path", "key"},
		"actions/upload-artifact":   {"name", "path", "retention-days", "if-no-files-found", "overwrite"},
		"actions/download-artifact": {"name", "path"},
	}
	inputs, ok := known[name]
	if !ok {
		return false, fmt.Errorf("the action %s is not played", name)
	}
	for input := range with {
		if !slices.Contains(inputs, input) {
			return false, fmt.Errorf("the input %s of %s is not played", input, name)
		}
	}
	switch name {
	case "actions/checkout":
		return true, p.checkout(ctx, with)
	case "actions/cache":
		if err := p.restore(with); err != nil {
			return false, err
		}
		p.finally = append(p.finally, func() error { // the action saves after a success only
			if p.failed {
				return nil
			}
			return p.save(with)
		})
	case "actions/cache/restore":
		return true, p.restore(with)
	case "actions/cache/save":
		return true, p.save(with)
	case "actions/upload-artifact":
		return true, p.upload(with)
	case "actions/download-artifact":
		from := p.Artifact(p.run.ID, with["name"])
		if _, err := os.Stat(from); err != nil {
			fmt.Fprintf(&p.output, "## download: there is no artifact %s\n", with["name"])
			return false, nil
		}
		return true, copyTree(from, filepath.Join(p.workspace, with["path"]), false)
	}
	return true, nil
}

// checkout makes a clone as the action does: one commit deep unless told otherwise, on a
// branch only where the event's is one.
func (p *player) checkout(ctx context.Context, with map[string]string) error {
	folder := filepath.Join(p.workspace, with["path"])
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	git := func(arguments ...string) error {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", folder}, arguments...)...)
		cmd.Env = append(append([]string{}, p.Env...), "HOME="+filepath.Join(filepath.Dir(p.workspace), "home"))
		output, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("git %v: %w\n%s", arguments, err, output)
		}
		return nil
	}
	fetch := []string{"fetch", "--quiet", "--no-tags", "--depth=1", "origin"}
	if with["fetch-depth"] == "0" {
		fetch = []string{"fetch", "--quiet", "--tags", "origin", "+refs/heads/*:refs/remotes/origin/*"}
	}
	commit, remote := cmp.Or(with["ref"], p.event.SHA), p.Remote
	if name := with["repository"]; name != "" {
		if remote = p.Others[name]; remote == "" || with["ref"] == "" {
			return fmt.Errorf("there is no repository %s, or no commit of it is named", name)
		}
	}
	steps := [][]string{{"init", "--quiet", "-b", "unborn"}, {"remote", "add", "origin", "file://" + remote},
		append(fetch, commit)}
	if branch, ok := strings.CutPrefix(p.event.Ref, "refs/heads/"); ok && with["ref"] == "" {
		steps = append(steps, []string{"update-ref", "refs/remotes/origin/" + branch, commit},
			[]string{"checkout", "--quiet", "-B", branch, commit})
	} else {
		steps = append(steps, []string{"checkout", "--quiet", "--detach", commit})
	}
	if p.permissions().Permissions["contents"] != "write" {
		steps = append(steps, []string{"remote", "set-url", "--push", "origin", "file:///the/token/may/only/read"})
	}
	for _, arguments := range steps {
		if err := git(arguments...); err != nil {
			return err
		}
	}
	return nil
}

// cached is the folder of a cache's key.
func (p *player) cached(key string) string {
	return filepath.Join(p.Folder, "caches", strings.ReplaceAll(key, "/", "_"))
}

// restore takes the cache of the key, or else the newest whose key begins as asked.
func (p *player) restore(with map[string]string) error {
	found := p.cached(with["key"])
	if _, err := os.Stat(found); err != nil {
		if found, err = p.newest(strings.Fields(with["restore-keys"])); err != nil || found == "" {
			return err
		}
	}
	return copyTree(found, p.workspace, true)
}

// newest is the folder of the cache that was saved last, among those of the first prefix
// that has any.
func (p *player) newest(prefixes []string) (string, error) {
	for _, prefix := range prefixes {
		candidates, err := filepath.Glob(p.cached(prefix) + "*")
		if err != nil {
			return "", err
		}
		found, last := "", int64(0)
		for _, candidate := range candidates {
			info, err := os.Stat(candidate)
			if err != nil {
				return "", err
			}
			if at := info.ModTime().UnixNano(); at > last {
				found, last = candidate, at
			}
		}
		if found != "" {
			return found, nil
		}
	}
	return "", nil
}

// save keeps the paths under the key. A key that is there stays as it is.
func (p *player) save(with map[string]string) error {
	to := p.cached(with["key"])
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, path := range strings.Fields(with["path"]) {
		err := copyTree(filepath.Join(p.workspace, path), filepath.Join(to, path), true)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// upload keeps a folder. Hidden files are left out, as the action does.
func (p *player) upload(with map[string]string) error {
	if len(strings.Fields(with["path"])) != 1 {
		return fmt.Errorf("several paths in one artifact are not played")
	}
	to := p.Artifact(p.run.ID, with["name"])
	if _, err := os.Stat(to); err == nil {
		if with["overwrite"] != "true" {
			return fmt.Errorf("there is an artifact %s already", with["name"])
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
	err := copyTree(filepath.Join(p.workspace, with["path"]), to, false)
	if errors.Is(err, fs.ErrNotExist) && with["if-no-files-found"] != "error" {
		return nil
	}
	return err
}

// copyTree copies a folder or a file, hidden files where asked.
func copyTree(from, to string, hidden bool) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch {
		case relative != "." && !hidden && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, content, info.Mode().Perm())
	})
}
