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

// take returns the bench of a key. Release it afterwards.
func (b *benches) take(key string, open func(*bench) error) (*bench, func(), error) {
	b.mu.Lock()
	if b.open == nil {
		b.open = map[string]*bench{}
	}
	found, known := b.open[key]
	if !known {
		found = &bench{}
		found.opened = sync.OnceValue(func() error { return open(found) })
		b.open[key] = found
	}
	found.users++
	found.used = time.Now()
	b.mu.Unlock()
	release := func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		found.users--
		b.shrink()
	}
	if err := found.opened(); err != nil {
		b.mu.Lock()
		if b.open[key] == found {
			delete(b.open, key) // the next task tries again
		}
		b.mu.Unlock()
		release()
		return nil, nil, err
	}
	return found, release, nil
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

// closeIdle closes, of the benches that are meant, those that nobody uses now: none of their processes is on the
// device then, and the next task opens them anew.
func (b *benches) closeIdle(meant func(key string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.open, func(key string, open *bench) bool {
		if open.users > 0 || !meant(key) {
			return false
		}
		open.end()
		return true
	})
}

func every(string) bool { return true }

func (b *bench) end() {
	if b.bench != nil {
		b.bench.Close()
	}
}

// with does a task with the bench of its subject, which open opens where it is not. One that
// something went wrong with is dropped: the next task opens it anew.
func (b *benches) with(kind string, subject farm.Subject, open func(*bench) error,
	do func(*bench) (farm.Answer, error)) (farm.Answer, error) {
	encoded, err := json.Marshal([]any{kind, subject})
	if err != nil {
		return farm.Answer{}, err
	}
	key := cache.Digest(encoded)
	found, release, err := b.take(key, open)
	if err != nil {
		return farm.Answer{}, err
	}
	answer, err := do(found)
	if release(); err != nil {
		b.closeIdle(func(other string) bool { return other == key })
	}
	return answer, err
}

// machine returns this machine with the tools that a subject asks for.
func (s *server) machine(subject farm.Subject, compiles bool) *devices.Machine {
	tools, how := s.tools, subject.Definition
	tools.Compiler, tools.CompileTimeout = how.Compiler, how.CompileTimeout
	tools.Notice = func(text string) { s.log.Info(text, "kernel", subject.Name) }
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
