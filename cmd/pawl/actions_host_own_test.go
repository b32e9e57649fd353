package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pawl/internal/githubtest"
)

// newHost returns a host whose repository has one commit, and the event of its push.
func newHost(t *testing.T) (*actionsHost, actionsEvent) {
	t.Helper()
	for _, tool := range []string{"git", "bash"} {
		if _, err := exec.LookPath(tool); err != nil || runtime.GOOS == "windows" {
			t.Skipf("no %s", tool)
		}
	}
	folder := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}
	git := func(arguments ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, arguments...)...)
		cmd.Dir, cmd.Env = folder, env
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, output)
		}
		return strings.TrimSpace(string(output))
	}
	remote := filepath.Join(folder, "remote.git")
	git("init", "--quiet", "--bare", "-b", "main", remote)
	git("--git-dir", remote, "config", "uploadpack.allowAnySHA1InWant", "true")
	tree := git("--git-dir", remote, "write-tree")
	first := git("--git-dir", remote, "commit-tree", "-m", "first", tree)
	commit := git("--git-dir", remote, "commit-tree", "-m", "second", "-p", first, tree)
	git("--git-dir", remote, "update-ref", "refs/heads/main", commit)
	server := githubtest.New("someone/kernels", remote)
	t.Cleanup(server.Close)
	h := &actionsHost{Server: server, Remote: remote, Folder: filepath.Join(folder, "actions"), Env: env}
	return h, actionsEvent{
		Name: "push", Ref: "refs/heads/main", RefName: "main", SHA: commit, Payload: map[string]any{"before": ""},
	}
}

// The parts of a workflow work together as on GitHub.
func TestPlay(t *testing.T) {
	h, e := newHost(t)
	run, err := h.Play(t.Context(), []byte(`
on: push
permissions: {}
jobs:
  first:
    runs-on: x
    outputs: {rows: "${{ steps.rows.outputs.rows }}"}
    steps:
      - id: rows
        run: echo 'rows={"include":[{"n":"a"},{"n":"b"}]}' >> "$GITHUB_OUTPUT"
  rows:
    needs: first
    runs-on: x
    strategy: {matrix: "${{ fromJSON(needs.first.outputs.rows) }}"}
    permissions: {contents: read}
    env: {NAME: "${{ matrix.n }}"}
    steps:
      - uses: actions/checkout@0
      - run: |
          [ "$(git rev-list --count HEAD)" = 1 ] # as shallow as the action makes it
          ! git push --quiet origin HEAD:refs/heads/stolen
          mkdir out && echo "$NAME ${{ strategy.job-index }} of ${{ strategy.job-total }}" > out/row
          touch out/.hidden
          echo "row $NAME" >> "$GITHUB_STEP_SUMMARY"
      - uses: actions/upload-artifact@0
        with: {name: rows, path: out/, overwrite: true}
  failing:
    needs: rows
    runs-on: x
    steps:
      - run: exit 3
      - run: echo never
      - if: always()
        run: echo cleaned up
  after:
    needs: failing
    runs-on: x
    steps: [{run: echo never}]
  writing:
    needs: [rows, failing]
    if: "!cancelled() && needs.failing.result == 'failure'"
    runs-on: x
    permissions: {contents: write}
    steps:
      - uses: actions/checkout@0
        with: {fetch-depth: 0}
      - uses: actions/download-artifact@0
        with: {name: rows, path: out}
      - run: |
          [ "$(git rev-list --count HEAD)" = 2 ]
          [ "$(cat out/row)" = "b 1 of 2" ]
          [ ! -e out/.hidden ]
          git push --quiet origin HEAD:refs/heads/pushed
`), e)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"first":   "success",
		"rows":    "success",
		"failing": "failure",
		"after":   "skipped",
		"writing": "success",
	} {
		if got := run.Jobs[name]; got.Result != want || strings.Contains(got.Log, "never") {
			t.Errorf("%s: %s, want %s\n%s", name, got.Result, want, got.Log)
		}
	}
	if run.Jobs["rows"].Summary != "row a\nrow b\n" ||
		!strings.Contains(run.Jobs["failing"].Log, "cleaned up") {
		t.Errorf("%+v", run.Jobs)
	}
}

// What is not played is an error, never skipped.
func TestWhatIsNotKnownIsAnError(t *testing.T) {
	h, e := newHost(t)
	for text, want := range map[string]string{
		"jobs: {a: {runs-on: x, container: y, steps: []}}":                           "container",
		"jobs: {a: {steps: [{uses: somebody/else@0}]}}":                              "somebody/else is not played",
		"jobs: {a: {steps: [{uses: actions/checkout@0, with: {submodules: true}}]}}": "submodules",
		"jobs: {a: {needs: b, steps: []}}":                                           "no job b",
		"jobs: {a: {needs: b, steps: []}, b: {needs: a, steps: []}}":                 "needs itself",
		"jobs: {a: {steps: [{run: 'true', shell: fish}]}}":                           "no shell fish",
		"jobs: {a: {if: nowhere.x, steps: []}}":                                      `no context "nowhere"`,
		"jobs: {a: {strategy: {matrix: {os: [a, b]}}, steps: []}}":                   "no list to include",
		"jobs: {a: {steps: [{run: 'echo x >> \"$GITHUB_OUTPUT\"'}]}}":                "has no value",
		"jobs: {}": "no jobs",
	} {
		if _, err := h.Play(t.Context(), []byte(text), e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
