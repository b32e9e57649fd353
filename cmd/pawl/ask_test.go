package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asking is a pawl ask that a test talks to.
type asking struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startAsking(t *testing.T, dir string, flags ...string) *asking {
	t.Helper()
	a := &asking{t: t, cmd: asPawl(t, dir, append([]string{"ask", "space.yaml"}, flags...)...)}
	in, err := a.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.in, a.out = in, bufio.NewReader(out)
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if a.cmd.ProcessState == nil {
			_, _ = a.cmd.Process.Kill(), a.cmd.Wait()
		}
	})
	return a
}

// say sends a line and returns the answer.
func (a *asking) say(line string) map[string]any {
	a.t.Helper()
	if _, err := io.WriteString(a.in, line+"\n"); err != nil {
		a.t.Fatal(err)
	}
	answer, err := a.out.ReadBytes('\n')
	reply := map[string]any{}
	if err == nil {
		err = json.Unmarshal(answer, &reply)
	}
	if err != nil {
		a.t.Fatalf("%s: %v: %s", line, err, answer)
	}
	return reply
}

// end closes the input and waits.
func (a *asking) end() {
	a.t.Helper()
	a.in.Close()
	if err := a.cmd.Wait(); err != nil {
		a.t.Error(err)
	}
}

func askingFolder(t *testing.T) string {
	dir := t.TempDir()
	manifest := "params:\n  BLOCK: {values: [1, 2, 4, 8, 16, 32], default: 1}\n" +
		"  MODE: {values: [row, column], default: row}\n"
	if err := os.WriteFile(filepath.Join(dir, "space.yaml"), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Whatever an asker sends that makes no sense has an answer that says so, and the dialog goes on.
func TestAskAnswersMistakes(t *testing.T) {
	a := startAsking(t, askingFolder(t))
	a.say(`{"do": "ask"}`)
	for line, want := range map[string]string{
		`nonsense`:                                  "not a request",
		`{"do": "ask"`:                              "not a request",
		`{"do": "ask"} {"do": "ask"}`:               "more than one object",
		`{}`:                                        `"do" is missing`,
		`{"do": "dance"}`:                           "no request \"dance\"; there are ask, tell, best, report",
		`{"do": "ask", "trial": 0}`:                 "ask takes nothing else",
		`{"do": "ask", "many": 2}`:                  "unknown field",
		`{"do": "tell", "ms": 1}`:                   `tell needs "trial"`,
		`{"do": "tell", "trial": 0}`:                `either "ms"`,
		`{"do": "tell", "trial": 0, "ms": []}`:      "no times",
		`{"do": "tell", "trial": 0, "ms": [1, -2]}`: "a time is above 0",
		`{"do": "tell", "trial": 0, "ms": 0}`:       "a time is above 0",
		`{"do": "tell", "trial": 0, "ms": "fast"}`:  "ms is a time in milliseconds",
		`{"do": "tell", "trial": 0, "ms": 1, "failure": "crash"}`: `either "ms"`,
		`{"do": "tell", "trial": 0, "failure": " "}`:              "a failure needs a reason",
		`{"do": "tell", "trial": 7, "ms": 1}`:                     "trial 7 is not pending; trial 0 is",
		strings.Repeat(" ", 2<<20) + `{"do": "ask"}`:              "a line has more than",
	} {
		if text, _ := a.say(line)["error"].(string); !strings.Contains(text, want) {
			t.Errorf("%.60s: %q, want %q", line, text, want)
		}
	}
	if reply := a.say(`{"do": "tell", "trial": 0, "ms": 2}`); reply["told"] != 0.0 {
		t.Errorf("told: %v", reply)
	}
	a.end()
}

// An asker dies with trials pending, and so does pawl. Who comes back gets these trials again, and the study goes on
// to its confirmed end; the pages and the commands know it as any other.
func TestAskComesBackAfterAKill(t *testing.T) {
	dir := askingFolder(t)
	first := startAsking(t, dir, "--trials", "6", "--rounds", "3", "--finalists", "1", "--device", "a simulator")
	var points []any
	for range 3 {
		points = append(points, first.say(`{"do": "ask"}`)["point"])
	}
	first.say(`{"do": "tell", "trial": 1, "ms": [4, 4.2, 4.1]}`)
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait() // killed

	again := startAsking(t, dir, "--resume", "--device", "a simulator")
	for _, number := range []int{0, 2} {
		reply := again.say(`{"do": "ask"}`)
		block, _ := json.Marshal(reply["point"])
		want, _ := json.Marshal(points[number])
		if reply["trial"] != float64(number) || string(block) != string(want) {
			t.Fatalf("came back to %v; trial %d was %s", reply, number, want)
		}
	}
	again.say(`{"do": "tell", "trial": 2, "failure": "out of registers\nand a long explanation"}`)
	again.say(`{"do": "tell", "trial": 0, "ms": 64}`)
	rounds := 0
	for {
		reply := again.say(`{"do": "ask"}`)
		if reply["done"] != nil {
			break
		}
		if reply["phase"] == "confirmation" {
			rounds++
		}
		block := reply["point"].(map[string]any)["BLOCK"].(float64)
		times := []float64{64 / block, 65 / block}
		told, err := json.Marshal(map[string]any{"do": "tell", "trial": reply["trial"], "ms": times})
		if err != nil {
			t.Fatal(err)
		}
		again.say(string(told))
	}
	best, _ := again.say(`{"do": "best"}`)["best"].(map[string]any)
	if rounds != 6 || best["confirmed"] != true || best["p_best"] == nil || best["speedup"] == nil {
		t.Errorf("%d answers in rounds, and the best is %v", rounds, best)
	}
	page, _ := again.say(`{"do": "report"}`)["report"].(string)
	again.end()
	content, err := os.ReadFile(filepath.Join(dir, page))
	if err != nil || !strings.Contains(string(content), "out of registers") ||
		!strings.Contains(string(content), "a simulator") {
		t.Errorf("%s: %v\n%s", page, err, content)
	}
	for _, command := range [][]string{{"studies", "list"}, {"studies", "show", "1"}, {"report", "1"}} {
		if output, err := asPawl(t, dir, command...).CombinedOutput(); err != nil ||
			!strings.Contains(string(output), "space") {
			t.Errorf("%s: %v: %s", command, err, output)
		}
	}
}

// The loop of the gallery, in Python, runs to its confirmed end, and again from there.
func TestAskLoopInPython(t *testing.T) {
	if found, err := hasPython("python"); err != nil {
		t.Fatal(err)
	} else if !found {
		t.Skip("no Python")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../docs/gallery/ask")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		pawl := asPawl(t, dir, "ask", "space.yaml", "--trials", "5", "--rounds", "3", "--finalists", "1", "--resume")
		words := append([]string{"loop.py", pawl.Path}, pawl.Args[1:]...)
		cmd := exec.Command(cmp.Or(os.Getenv("PYTHON"), "python3"), words...)
		cmd.Dir, cmd.Env = dir, pawl.Env
		output, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(output), "all trials done") ||
			!strings.Contains(string(output), "'confirmed': True") {
			t.Errorf("%v: %s", err, output)
		}
	}
}
