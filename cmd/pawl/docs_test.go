package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pawl/cmd/pawl/console"
	"pawl/gate/ci/runner"
	"pawl/internal/githubtest"
	"pawl/internal/thorough"
)

// handbook are the pages whose every command is tested.
var handbook = []string{"ci.md", "pawl-runner.md", "reference.md", "serve.md", "shipping.md", "coming-over.md",
	"troubleshooting.md", "../CONTRIBUTING.md"}

// block is a fenced piece of shell on a page. One that is marked with a word after sh is
// not run.
var block = regexp.MustCompile("(?ms)^ *```sh( [a-z]+)?\n(.*?)^ *```$")

// exits is how a page says which code a command ends with.
var exits = regexp.MustCompile(`# exits ([0-9]+)`)

func readPage(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// scratchRepository is a clone of a bare repository, with the README's kernel and a policy
// that takes no time.
func scratchRepository(t *testing.T) (dir, remote string) {
	t.Helper()
	top := t.TempDir()
	dir, remote = filepath.Join(top, "kernels"), filepath.Join(top, "origin.git")
	must := func(arguments ...string) {
		t.Helper()
		cmd := exec.Command("git", arguments...)
		cmd.Env = append(os.Environ(), identity...)
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", arguments, err, output)
		}
	}
	must("init", "-q", "--bare", "-b", "main", remote)
	must("clone", "-q", remote, dir)
	if err := writeExamples(dir); err != nil {
		t.Fatal(err)
	}
	rules := "preset: relaxed\nregression: 50%\nimprovement: 50%\nerosion: 60%\nrounds: [10]\nsamples: 3\nkernels: " +
		"[{kernel: ./scale, workloads: [small]}]\n"
	if err := os.WriteFile(filepath.Join(dir, "gate.yaml"), []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	must("-C", dir, "checkout", "-q", "-B", "main")
	must("-C", dir, "add", "scale", "gate.yaml")
	must("-C", dir, "commit", "-q", "-m", "A kernel")
	must("-C", dir, "push", "-q", "origin", "main")
	return dir, remote
}

var identity = []string{"GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=T",
	"GIT_COMMITTER_EMAIL=t@example.com"}

// The commands of a page, in its order, in one repository.
func TestHandbookRuns(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("measures what the pages measure")
	}
	for _, name := range handbook {
		t.Run(strings.TrimPrefix(name, "../"), func(t *testing.T) {
			if name == "shipping.md" || name == "reference.md" {
				thorough.Only(t, "it measures for long")
			}
			dir, remote := scratchRepository(t)
			server := githubtest.New("someone/kernels", remote)
			defer server.Close()
			server.Give("secret", githubtest.JobToken("contents=write", "pull_requests=write"))
			programs := t.TempDir()
			base := asPawl(t, programs)
			env := append(base.Env, "PATH="+programs+":"+os.Getenv("PATH"), "HOME="+programs, "CUDA_VISIBLE_DEVICES=",
				"GITHUB_STEP_SUMMARY=",
				"GITHUB_API_URL="+server.URL, "GITHUB_TOKEN=secret", "GITHUB_REPOSITORY="+server.Repository)
			for _, found := range block.FindAllStringSubmatch(readPage(t, name), -1) {
				if found[1] != "" {
					continue
				}
				for line := range strings.Lines(strings.ReplaceAll(found[2], "\\\n", " ")) {
					if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
						continue
					}
					want := 0
					if code := exits.FindStringSubmatch(line); code != nil {
						want, _ = strconv.Atoi(code[1])
					}
					cmd := exec.Command("sh", "-c", line)
					cmd.Dir, cmd.Env = dir, append(env, identity...)
					output, err := cmd.CombinedOutput()
					if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
						t.Fatalf("%s: %v, want exit code %d:\n%s", line, err, want, output)
					}
				}
			}
		})
	}
}

// Every call of pawl on a page, run or not, names a command and flags that there are; every
// other program in a block is one that we know, with packages and scripts that there are.
func TestHandbookNamesWhatThereIs(t *testing.T) {
	app := newApp(console.Environment{})
	span := regexp.MustCompile("`(pawl [^`]*)`")
	lines := 0
	known := []string{"pawl", "bin/pawl", "go", "git", "gh", "sudo", "./config.sh", "./run.sh", ".ci/run"}
	for _, name := range handbook {
		text := readPage(t, name)
		check := func(script string) {
			t.Helper()
			for _, call := range invocations(script) {
				if err := exists(app, call); err != nil {
					t.Errorf("docs/%s: pawl %s: %v", name, strings.Join(call, " "), err)
				}
			}
		}
		for _, found := range block.FindAllStringSubmatch(text, -1) {
			check(strings.ReplaceAll(found[2], "bin/pawl", "pawl"))
			for line := range strings.Lines(found[2]) {
				words := strings.Fields(line)
				if len(words) == 0 || strings.HasPrefix(words[0], "#") {
					continue
				}
				lines++
				for len(words) > 1 && strings.Contains(words[0], "=") { // a variable for the program
					words = words[1:]
				}
				if !slices.Contains(known, words[0]) {
					t.Errorf("docs/%s: what is %s?", name, words[0])
				}
				if err := localPaths(words); err != nil {
					t.Errorf("docs/%s: %s: %v", name, strings.TrimSpace(line), err)
				}
			}
		}
		for _, found := range span.FindAllStringSubmatch(strings.ReplaceAll(text, "\n", " "), -1) {
			check(strings.ReplaceAll(found[1], "…", "X"))
		}
		for _, link := range regexp.MustCompile(`\]\(([a-z][^)]*)\)`).FindAllStringSubmatch(text, -1) {
			file, _, _ := strings.Cut(link[1], "#")
			if _, err := os.Stat(filepath.Join("../../docs", filepath.Dir(name), file)); err != nil {
				t.Errorf("docs/%s links to %s: %v", name, link[1], err)
			}
		}
	}
	if lines < 30 {
		t.Errorf("only %d commands on all pages", lines)
	}
}

// Every call of pawl on every page, the notes and the examples included, names a command and flags that there are.
func TestEveryPageNamesWhatThereIs(t *testing.T) {
	app := newApp(console.Environment{})
	span := regexp.MustCompile("`(pawl [^`]*)`")
	fenced := regexp.MustCompile("(?ms)^ *```[a-z]*( [a-z]+)?\n(.*?)^ *```$")
	indented := regexp.MustCompile(`(?m)^(?:    |\t)\s*((?:go run \./cmd/)?pawl .*)$`)
	// Where a command stands inside of another language: an item of YAML, a string of Groovy.
	item := regexp.MustCompile(`(?m)^\s*(?:- |\$ |'|.* script:\s*')(pawl )`)
	pages := []string{"../../README.md", "../../CONTRIBUTING.md"}
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md"} {
		found, err := filepath.Glob("../../docs/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	calls := 0
	for _, path := range pages {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		var scripts []string
		for _, found := range fenced.FindAllStringSubmatch(text, -1) {
			scripts = append(scripts, item.ReplaceAllString(strings.ReplaceAll(found[2], "bin/pawl", "pawl"), "$1"))
		}
		for _, found := range indented.FindAllStringSubmatch(text, -1) {
			scripts = append(scripts, found[1])
		}
		for _, found := range span.FindAllStringSubmatch(strings.ReplaceAll(text, "\n", " "), -1) {
			scripts = append(scripts, strings.ReplaceAll(found[1], "…", "X"))
		}
		for _, script := range scripts {
			for _, call := range invocations(script) {
				calls++
				if len(call) > 0 && (call[0] == "COMMAND" || call[0] == "ended") { // any; and a message
					continue
				}
				if err := exists(app, call); err != nil {
					t.Errorf("%s: pawl %s: %v", path, strings.Join(call, " "), err)
				}
			}
		}
	}
	if calls < 200 {
		t.Errorf("only %d calls on all pages", calls)
	}
}

// The examples of runner.yaml on the pages can be used.
func TestHandbookRunnersAreRead(t *testing.T) {
	read := 0
	for _, name := range handbook {
		for _, found := range regexp.MustCompile("(?ms)^```yaml\n(.*?^wake:.*?)^```$").FindAllStringSubmatch(readPage(t,
			name), -1) {
			read++
			if _, err := runner.Parse(name, []byte(found[1])); err != nil {
				t.Error(err)
			}
		}
	}
	if read == 0 {
		t.Error("no example")
	}
}

// localPaths checks the paths of this repository in a command.
func localPaths(words []string) error {
	for i, word := range words {
		local := word == ".ci/run" || words[0] == "go" && strings.HasPrefix(word, "./")
		if !local || i > 0 && words[i-1] == "-o" {
			continue
		}
		if _, err := os.Stat(filepath.Join("../..", strings.TrimSuffix(word, "/..."))); err != nil {
			return fmt.Errorf("no %s here", word)
		}
	}
	return nil
}

// The messages on the page by symptom are those of the program: each piece between the
// parts that vary is in a source.
func TestTroubleshootingQuotesRealMessages(t *testing.T) {
	var sources strings.Builder
	for _, pattern := range []string{"*/*.go", "*/*/*.go", "*/*/*/*.go", ".github/workflows/*.yml"} {
		paths, err := filepath.Glob("../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(content)
		}
	}
	all := regexp.MustCompile(`"\s*\+\s*"`).ReplaceAllString(sources.String(), "")
	messages := 0
	for _, found := range regexp.MustCompile("\\*\\*`([^`]+)`").FindAllStringSubmatch(readPage(t, "troubleshooting.md"),
		-1) {
		messages++
		for piece := range strings.SplitSeq(found[1], "…") {
			if piece = strings.Trim(piece, " .:;()"); len(piece) > 3 && !strings.Contains(all, piece) {
				t.Errorf("no source says %q", piece)
			}
		}
	}
	if messages < 15 {
		t.Errorf("only %d messages", messages)
	}
}
