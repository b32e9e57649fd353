package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func restrictedShell(t *testing.T, script string, access *Access) (string, error) {
	t.Helper()
	printed := &Output{Keep: 4096}
	_, err := Run(t.Context(), Command{Line: []string{"sh", "-c", script}, Stdout: printed, Stderr: printed,
		Access: access, Allowed: time.Minute})
	return printed.String(), err
}

// A restricted program reads and writes what it was given, and so does what it starts.
func TestRestrictedProgramsReachOnlyTheirFiles(t *testing.T) {
	if err := Restricts(); err != nil {
		t.Skip(err)
	}
	folder, other := t.TempDir(), t.TempDir()
	for _, at := range []string{folder, other} {
		if err := os.WriteFile(filepath.Join(at, "file"), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writes := (&Access{Read: Libraries}).Reading("/bin", other).Writing(folder)
	for script, works := range map[string]bool{
		"cat " + folder + "/file": true, "echo more >> " + folder + "/file": true,
		"mkdir " + folder + "/new && cp " + folder + "/file " + folder + "/new/a && mv " + folder + "/new/a " + folder +
			"/new/b && rm -r " + folder + "/new": true,
		"cat " + other + "/file": true, "echo more >> " + other + "/file": false, "rm " + other + "/file": false,
		"mv " + other + "/file " + folder: false, "mkdir " + other + "/new": false,
		"cat /etc/passwd":  false,
		"cat /proc/$$/mem": false, "cat /proc/self/environ": false,
		fmt.Sprintf("cat /proc/%d/environ", os.Getpid()): false, fmt.Sprintf("kill -0 %d", os.Getpid()): false,
		"sleep 0 & wait $! && kill -0 $$": true, "echo lost > /dev/null": true,
	} {
		if printed, err := restrictedShell(t, script, writes); (err == nil) != works {
			t.Errorf("%s: %v, %s", script, err, printed)
		}
	}
	// What may read everything still has no way into another program.
	all := &Access{Read: []string{Everything}}
	for script, works := range map[string]bool{
		"cat /etc/passwd": true, "cat /proc/self/environ": true, "echo > /etc/passwd": false,
		fmt.Sprintf("cat /proc/%d/environ", os.Getpid()): false, fmt.Sprintf("head -c 1 /proc/%d/mem", os.Getpid()): false,
		fmt.Sprintf("kill -0 %d", os.Getpid()): false,
	} {
		if printed, err := restrictedShell(t, script, all); (err == nil) != works {
			t.Errorf("%s: %v, %s", script, err, printed)
		}
	}
	if _, err := restrictedShell(t, "cat /etc/passwd", nil); err != nil { // this process is what it was
		t.Error(err)
	}
}

// A program that cannot be started says so, restricted or not.
func TestARestrictedProgramThatIsNotThere(t *testing.T) {
	_, err := Run(t.Context(), Command{Line: []string{"/none/such"}, Access: &Access{Read: []string{Everything}}})
	if exit := (*exec.ExitError)(nil); err == nil || errors.As(err, &exit) {
		t.Error(err)
	}
}

// Secrets are in no environment, nor in a text that somebody prints who knows them.
func TestSecretsAreScrubbed(t *testing.T) {
	for entry, want := range map[string]bool{
		"GITHUB_TOKEN=x": true, "GH_PAT=x": true, "AWS_SECRET_ACCESS_KEY=x": true, "AWS_ACCESS_KEY_ID=x": true,
		"PGPASSWORD=x": true, "OPENAI_API_KEY=x": true, "SSH_AUTH_SOCK=/x": true, "NPM_CONFIG_AUTH=x": true,
		"PAWL_DB=postgres://pawl:word@host/db": true, "https_proxy=http://me:word@proxy:80": true,
		"GOOGLE_APPLICATION_CREDENTIALS=/x": true, "ACTIONS_RUNTIME_TOKEN=x": true, "NETLIFYTOKEN=x": true,
		"PATH=/bin": false, "HOME=/root": false, "CUDA_HOME=/usr": false, "http_proxy=http://proxy:80": false,
		"KEYBOARD=us": false, "AUTHOR=me": false, "OMP_PLACES=cores": false, "TOKENIZERS_PARALLELISM=false": false,
		"MAIL=a@b": false, "COMPATIBLE=1": false, "MONKEY=1": false,
	} {
		if got := len(Scrubbed([]string{entry})) == 0; got != want {
			t.Errorf("%s: %v, want %v", entry, got, want)
		}
	}
	t.Setenv("SOME_TOKEN", "swordfish-1234")
	t.Setenv("SHORT_TOKEN", "word")
	for _, access := range []*Access{nil, {Read: []string{Everything}}} {
		printed, err := restrictedShell(t, "echo ${SOME_TOKEN-unset}; echo in swordfish-12''34 a word", access)
		if want := "unset\nin <SOME_TOKEN> a word\n"; err != nil || printed != want {
			t.Errorf("%q, %v, want %q", printed, err, want)
		}
	}
	keeps := &Output{Keep: 100}
	_, err := Run(t.Context(), Command{Line: []string{"sh", "-c", "echo $SOME_TOKEN"}, Stdout: keeps, Secrets: true})
	if err != nil || strings.TrimSpace(keeps.String()) != "swordfish-1234" {
		t.Errorf("%q, %v", keeps, err)
	}
}

// However many restricted programs a process starts, its main thread, by which others know it, is never restricted.
func TestTheMainThreadStaysUnrestricted(t *testing.T) {
	if Restricts() != nil {
		t.Skip(Restricts())
	}
	for range 40 {
		_, err := Run(t.Context(), Command{
			Line: []string{"true"}, Allowed: time.Minute, Access: &Access{Read: []string{Everything}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(status), "NoNewPrivs:\t0") {
		t.Error("the main thread has no_new_privs")
	}
}
