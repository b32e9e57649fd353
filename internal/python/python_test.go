package python

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/process"
)

// A script that does to its process whatever it is asked for.
const script = `
import signal, time
def handle(request):
    what = request["do"]
    if what == "print":
        print("to standard output")
        os.system("echo from a child; echo more >&4")
    elif what == "refuse":
        raise Refused("not this one", "mine")
    elif what == "leave":
        sys.exit("enough")
    elif what == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif what == "hang":
        time.sleep(600)
    elif what == "forge":
        import gc
        for file in gc.get_objects():
            if getattr(file, "mode", "") == "w" and getattr(file, "name", 0) not in (0, 1, 2):
                os.write(file.fileno(), b"forged\n")
    return {"process": os.getpid()}
serve(lambda: {"ready": True}, handle)
`

func server(t *testing.T) *Server {
	t.Helper()
	path, err := Find(os.Getenv)
	if err != nil {
		t.Skip(err)
	}
	return &Server{Path: path, Script: script}
}

func ask(t *testing.T, s *Server, what string, allowed time.Duration) (process int, printed string, err error) {
	t.Helper()
	var answer struct{ Process int }
	printed, err = s.Ask(t.Context(), allowed, map[string]string{"do": what}, &answer)
	return answer.Process, printed, err
}

// A process stays while it behaves, whatever what it executes prints or refuses, and is
// replaced when it does not.
func TestProcessStaysWhileItBehaves(t *testing.T) {
	s := server(t)
	first, _, err := ask(t, s, "nothing", time.Minute)
	if err != nil || first == 0 {
		t.Fatal(first, err)
	}
	again, printed, err := ask(t, s, "print", time.Minute)
	for i := 0; i < 20 && err == nil && printed == ""; i++ { // on a busy machine the answer may be read first
		again, printed, err = ask(t, s, "print", time.Minute)
	}
	if err != nil || again != first || !strings.Contains(printed, "to standard output") {
		t.Errorf("%d after %d, %q, %v", again, first, printed, err)
	}
	var refused *Refusal
	if _, _, err := ask(t, s, "refuse", time.Minute); !errors.As(err, &refused) || refused.Kind != "mine" {
		t.Errorf("%v", err)
	}
	if _, _, err := ask(t, s, "leave", time.Minute); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	if again, _, err := ask(t, s, "nothing", time.Minute); err != nil || again != first {
		t.Errorf("%d after %d, %v", again, first, err)
	}
	for _, test := range []struct {
		what, says string
	}{
		{"die", "Python ended without an answer (signal: segmentation fault"},
		{"forge", "something wrote"},
	} {
		_, _, err := ask(t, s, test.what, time.Minute)
		var death Death
		if !errors.As(err, &death) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.what, err)
		}
		again, _, err := ask(t, s, "nothing", time.Minute)
		if err != nil || again == first || again == 0 {
			t.Errorf("%s: %d after %d, %v", test.what, again, first, err)
		}
		first = again
	}
	if _, _, err := ask(t, s, "hang", 100*time.Millisecond); !errors.Is(err, process.ErrTime) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the user left")
	cancel(gone)
	if _, err := s.Ask(ctx, time.Minute, map[string]string{"do": "hang"}, nil); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}

func TestFindTakesTheNamedPython(t *testing.T) {
	getenv := func(name string) string { return map[string]string{Variable: "/nowhere/python"}[name] }
	if _, err := Find(getenv); err == nil || !strings.Contains(err.Error(), "/nowhere/python") {
		t.Errorf("%v", err)
	}
	own := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(own, []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	found, err := Find(func(string) string { return own })
	if err != nil || found != own {
		t.Fatal(found, err)
	}
	var death Death
	if err := (&Server{Path: found, Script: script}).About(t.Context(), nil); !errors.As(err, &death) {
		t.Errorf("%v", err)
	}
}
