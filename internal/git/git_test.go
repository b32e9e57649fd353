package git

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pawl/internal/kerneltest"
)

// A repository's own configuration names programs; none of them runs, and the variables
// of a hook do not lead elsewhere.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	folder := t.TempDir()
	trace := filepath.Join(t.TempDir(), "ran")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	plain := func(arguments ...string) {
		t.Helper()
		cmd := exec.Command("git",
			append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org"}, arguments...)...)
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, output)
		}
	}
	plain("init", "--quiet")
	if err := os.WriteFile(filepath.Join(folder, "a"), []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	plain("add", "a")
	plain("commit", "--quiet", "-m", "one")
	script := filepath.Join(t.TempDir(), "program")
	if err := kerneltest.WriteProgram(script, "#!/bin/sh\ntouch "+trace+"\n"); err != nil {
		t.Fatal(err)
	}
	plain("config", "core.fsmonitor", script)
	t.Setenv("GIT_DIR", filepath.Join(folder, "nowhere"))
	for _, arguments := range [][]string{{"status", "--porcelain"}, {"rev-parse", "HEAD"}, {"show", "HEAD:a"}} {
		output, err := Run(t.Context(), folder, nil, arguments...)
		if err != nil || arguments[0] == "show" && string(output) != "a\n" {
			t.Errorf("%v: %q, %v", arguments, output, err)
		}
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("the repository's monitor ran")
	}
	if _, err := Run(t.Context(), folder, nil, "rev-parse", "--verify", "nothing"); err == nil ||
		!strings.HasPrefix(err.Error(), "git rev-parse: ") {
		t.Errorf("%v", err)
	}
}

// A server gets the token once, although the repository's configuration has a header of its
// own, and another server gets none. The command line does not hold it.
func TestTokenReachesItsServerAlone(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	if _, err := Run(t.Context(), folder, nil, "init", "--quiet"); err != nil {
		t.Fatal(err)
	}
	var lock sync.Mutex
	var got []string
	received := func() []string {
		lock.Lock()
		defer lock.Unlock()
		all := got
		got = nil
		return all
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		got = append(got, r.Header.Values("Authorization")...)
		lock.Unlock()
		http.NotFound(w, r)
	}))
	defer server.Close()
	if _, err := Run(t.Context(), folder, nil, "config", "http."+server.URL+"/.extraheader",
		"AUTHORIZATION: basic b2xk"); err != nil {
		t.Fatal(err)
	}
	variables := Authorization(server.URL, "secret")
	if _, err := RunWith(t.Context(), folder, variables, nil, "ls-remote", server.URL+"/o/r"); err == nil ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	// x-access-token:secret
	if all, want := received(), []string{"basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0"}; !slices.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
	if _, err := RunWith(t.Context(), folder, Authorization("https://git.example.org", "secret"), nil, "-c",
		"http."+server.URL+"/.extraheader=", "ls-remote", server.URL+"/o/r"); err == nil {
		t.Error("there is a repository")
	}
	if all := received(); len(all) > 0 {
		t.Errorf("another server got %q", all)
	}
}
