package tune

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pawl/internal/postgrestest"
	"pawl/objective/devices"
	"pawl/studies/farm"
	"pawl/studies/farm/serve"
)

// locked is a buffer that several may write to.
type locked struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

// Every line about a task has the numbers of its study and its trial as pawl studies shows
// them, and its job's. The database's password is in no log, no file and no argument.
func TestLogsOfAFarm(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	if !strings.Contains(url, postgrestest.Password) {
		t.Fatal("the test's database has no password to look for")
	}
	var log locked
	where := farm.Options{URL: url, Version: "test", Log: slog.New(slog.NewJSONHandler(&log, nil))}
	if err := farm.Init(t.Context(), where); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- serve.Run(ctx,
			serve.Options{
				Farm:    where,
				Measure: true,
				Tools:   devices.Tools{Cache: t.TempDir(), Getenv: os.Getenv, Notice: func(string) {}},
			})
	}()
	asked := part{Folder: t.TempDir(), Backend: Replay, Seed: 3, Trials: 6}
	options := asked.options(&Farm{Options: where})
	options.Place.Out = filepath.Join(asked.Folder, "out")
	if _, err := Run(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	recorded := told(t, asked)
	seen := map[string]bool{}
	for lines := bufio.NewScanner(strings.NewReader(log.String())); lines.Scan(); {
		var line struct {
			Message       string `json:"msg"`
			Study, Trial  string
			Job           int64
			Action, Point string
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if line.Action == "" {
			continue
		}
		// The steps from the default to the winner need not have been trials.
		trial := "none"
		for _, recorded := range recorded.Trials {
			if recorded.Point.String() == line.Point {
				trial = strconv.Itoa(recorded.Number)
			}
		}
		if line.Study != "1" || line.Trial != trial || line.Job == 0 {
			t.Errorf("%s", lines.Text())
		}
		seen[line.Action+" "+line.Trial] = true
	}
	for i := range recorded.Trials {
		for _, action := range []farm.Action{farm.Compile, farm.Measure} {
			if name := string(action) + " " + strconv.Itoa(i); !seen[name] && recorded.Trials[i].OK() {
				t.Errorf("no line about %s", name)
			}
		}
	}
	texts := map[string]string{"log": log.String(), "arguments": strings.Join(os.Args, " ")}
	err := filepath.WalkDir(asked.Folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var content []byte
			content, err = os.ReadFile(path)
			texts[path] = string(content)
		}
		return err
	})
	if err != nil || len(texts) < 3 {
		t.Fatalf("%d texts, %v", len(texts), err)
	}
	for name, text := range texts {
		if strings.Contains(text, postgrestest.Password) {
			t.Errorf("the password is in %s", name)
		}
	}
}
