package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pawl/internal/page"
	"pawl/kernels"
	"pawl/objective/cache"
	"pawl/objective/devices"
	"pawl/search"
	"pawl/studies/farm"
)

// mostBenches is how many subjects stay open: each may hold memory of a GPU.
const mostBenches = 4

type bench struct {
	opened    func() error   // opens it, once
	bench     *devices.Bench // nil for a record
	fetched   *fetched       // of one that runs
	evaluator search.Evaluator
	mu        sync.Mutex // of fresh, and of a record's samples
	fresh     string
	users     int
	used      time.Time
}

type benches struct {
	mu   sync.Mutex
	open map[string]*bench
}

// with does a task on the bench of its subject, which open opens first where it is closed. A
// bench on which something went wrong is dropped, and the next task opens another.
func (b *benches) with(kind string, subject farm.Subject, open func(*bench) error,
	do func(*bench) (farm.Answer, error)) (answer farm.Answer, err error) {
	encoded, err := json.Marshal([]any{kind, subject})
	if err != nil {
		return answer, err
	}
	key := cache.Digest(encoded)
	b.mu.Lock()
	found, known := b.open[key]
	if !known {
		found = &bench{}
		found.opened = sync.OnceValue(func() error { return open(found) })
		b.open[key] = found
	}
	found.users++
	found.used = time.Now()
	b.mu.Unlock()
	if err = found.opened(); err == nil {
		answer, err = do(found)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	found.users--
	if err != nil && b.open[key] == found && (found.users == 0 || found.bench == nil) {
		found.end()
		delete(b.open, key)
	}
	b.shrink()
	return answer, err
}

func (b *benches) shrink() {
	for len(b.open) > mostBenches {
		oldest := ""
		for key, candidate := range b.open {
			if candidate.users == 0 && (oldest == "" || candidate.used.Before(b.open[oldest].used)) {
				oldest = key
			}
		}
		if oldest == "" {
			return
		}
		b.open[oldest].end()
		delete(b.open, oldest)
	}
}

// closeIdle closes the benches that nobody uses now: none of their processes is on the
// device then, and the next task opens them anew.
func (b *benches) closeIdle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.open, func(_ string, open *bench) bool {
		if open.users > 0 {
			return false
		}
		open.end()
		return true
	})
}

func (b *bench) end() {
	if b.bench != nil {
		b.bench.Close()
	}
}

// machine returns this machine with the tools that a subject asks for.
func (s *server) machine(subject farm.Subject, compiles bool) *devices.Machine {
	tools, how := s.Tools, subject.Definition
	tools.Compiler, tools.CompileTimeout = how.Compiler, how.CompileTimeout
	tools.Notice = func(text string) { s.Farm.Log.Info(text, "kernel", subject.Name) }
	if compiles && kernels.BackendOf(how.Backend).GPU {
		tools.Architecture = subject.Architecture
	}
	return devices.Here(tools)
}

func (s *server) target(ctx context.Context, subject farm.Subject) (devices.Target, error) {
	folder := filepath.Join(s.cache.Dir(), "farm", subject.Kernel)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		packed, err := s.farm.Get(ctx, subject.Kernel)
		if err != nil {
			return devices.Target{}, err
		}
		if err := page.WriteFolder(folder, func(to string) error {
			return kernels.Unpack(bytes.NewReader(packed), to)
		}); err != nil {
			return devices.Target{}, err
		}
	}
	k, err := kernels.Load(folder, subject.Definition.Backend)
	if err != nil {
		return devices.Target{}, fmt.Errorf("reading the kernel from the farm: %w", err)
	}
	return devices.NewTarget(k, subject.Definition.Workload)
}
