package main

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
		"actions/checkout":          {"fetch-depth", "persist-credentials", "ref", "path", "repository", "token"},
		"actions/setup-go":          {"go-version-file", "cache-dependency-path"},
		"actions/cache":             {"path", "key", "restore-keys"},
		"actions/cache/restore":     {"path", "key", "restore-keys"},
		"actions/cache/save":        {"path", "key"},
		"actions/upload-artifact":   {"name", "path", "retention-days", "if-no-files-found", "overwrite"},
		"actions/download-artifact": {"name", "pattern", "path"},
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
		if needs := p.Private[with["repository"]]; needs != "" && with["token"] != needs {
			fmt.Fprintf(&p.output, "## checkout: the token may not read %s\n", with["repository"])
			return false, nil
		}
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
		if with["pattern"] != "" { // each in a folder of its name; none is no failure
			return true, p.downloadAll(with["pattern"], with["path"])
		}
		from := p.Artifact(p.run.ID, with["name"])
		if _, err := os.Stat(from); err != nil {
			fmt.Fprintf(&p.output, "## download: there is no artifact %s\n", with["name"])
			return false, nil
		}
		return true, copyTree(from, filepath.Join(p.workspace, with["path"]))
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
	for _, prefix := range append([]string{with["key"]}, strings.Fields(with["restore-keys"])...) {
		for _, key := range slices.Backward(p.before) {
			if strings.HasPrefix(key, prefix) {
				return copyTree(p.cached(key), p.workspace)
			}
		}
	}
	return nil
}

// save keeps the paths under the key. A key that is there stays as it is.
func (p *player) save(with map[string]string) error {
	key := with["key"]
	if slices.Contains(p.caches, key) {
		return nil
	}
	p.caches = append(p.caches, key)
	for _, path := range strings.Fields(with["path"]) {
		err := copyTree(filepath.Join(p.workspace, path), filepath.Join(p.cached(key), path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.MkdirAll(p.cached(key), 0o755)
}

// upload keeps a folder. Hidden files are left out, as the action does.
func (p *player) upload(with map[string]string) error {
	to := p.Artifact(p.run.ID, with["name"])
	if _, err := os.Stat(to); err == nil && with["overwrite"] != "true" {
		return fmt.Errorf("there is an artifact %s already", with["name"])
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	err := copyTree(filepath.Join(p.workspace, with["path"]), to)
	if errors.Is(err, fs.ErrNotExist) && with["if-no-files-found"] != "error" {
		return nil
	}
	if err != nil {
		return err
	}
	return runTool("find", to, "-mindepth", "1", "-name", ".*", "-prune", "-exec", "rm", "-rf", "{}", "+")
}

func (p *player) downloadAll(pattern, to string) error {
	found, err := filepath.Glob(p.Artifact(p.run.ID, pattern))
	for _, from := range found {
		err = errors.Join(err, copyTree(from, filepath.Join(p.workspace, to, filepath.Base(from))))
	}
	return err
}

// copyTree copies what is in a folder.
func copyTree(from, to string) error {
	if _, err := os.Stat(from); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	return runTool("cp", "-R", from+"/.", to)
}

func runTool(name string, arguments ...string) error {
	output, err := exec.Command(name, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, arguments, err, output)
	}
	return nil
}
