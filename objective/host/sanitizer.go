package host

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ebitengine/purego"

	"pawl/objective"
)

// sanitizer says how to build and run under the compiler's sanitizers.
type sanitizer struct {
	flags       []string
	environment []string
}

// sanitizerRuntime is the library that must be loaded first.
const sanitizerRuntime = "libasan.so"

// sanitizerFlags make the first finding the last. The kernel's own flags stay:
// what is checked should be as near as possible to what is timed.
var sanitizerFlags = []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer",
	"-g1"}

// sanitizerOptions leave signals to the worker's own handler, which tells where
// a fault happened; findings end in abort.
const sanitizerOptions = "abort_on_error=1:halt_on_error=1:detect_leaks=0:handle_segv=0:" +
	"handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:use_sigaltstack=0:" +
	"detect_stack_use_after_return=0"

// Sanitized returns the backend under AddressSanitizer and the sanitizer for
// undefined behavior. Their runtime must be in the worker before anything
// else, so it is preloaded.
func (b *Backend) Sanitized(ctx context.Context) ([]objective.Sanitizer, error) {
	if b.compiler != nil {
		return nil, fmt.Errorf("%w: %s is compiled by %s", objective.ErrNoSanitizer, b.kernel.Source, b.kernel.Compile[0])
	}
	runtime, err := b.options.Toolchain.library(ctx, sanitizerRuntime)
	if err != nil {
		return nil, err
	}
	copied := *b
	copied.linking = nil // the runtime's symbols are found when it is preloaded
	copied.sanitizer = &sanitizer{flags: sanitizerFlags, environment: []string{
		"LD_PRELOAD=" + runtime, "ASAN_OPTIONS=" + sanitizerOptions, "UBSAN_OPTIONS=" + sanitizerOptions,
	}}
	// A compiler may know the flags and lack the libraries: better to say so
	// now than to fail at every point.
	probe := []byte("int pawl_probe(int x);\nint pawl_probe(int x) { return x + 1; }\n")
	if _, err := copied.build(ctx, sanitizerFlags, piece{languageC, probe}); err != nil {
		return nil, fmt.Errorf("%w: %s cannot link with it (%v); install its sanitizer libraries", objective.ErrNoSanitizer,
			b.options.Toolchain.Version, err)
	}
	return []objective.Sanitizer{{
		Name:     "AddressSanitizer and UndefinedBehaviorSanitizer",
		Backend:  &copied,
		Slowdown: 1,
	}}, nil
}

var _ objective.Sanitizing = (*Backend)(nil)

// library returns the path of one of the compiler's own libraries. A compiler
// that has none prints the name as it is.
func (t *Toolchain) library(ctx context.Context, name string) (string, error) {
	if raceDetector {
		return "",
			fmt.Errorf("%w: this program was built with the race detector, which cannot run beside one; build it "+
				"without -race", objective.ErrNoSanitizer)
	}
	output, err := t.run(ctx, 30*time.Second, "", "", nil, "-print-file-name="+name)
	if path := strings.TrimSpace(output); err == nil && filepath.IsAbs(path) {
		return path, nil
	}
	return "",
		fmt.Errorf("%w: %s has no %s; install it (with gcc it is a package of its own on some systems)",
			objective.ErrNoSanitizer, t.Version, name)
}

// shadow marks memory that a sanitizer should watch. Both functions are 0
// where no sanitizer is loaded.
type shadow struct{ poison, unpoison uintptr }

var sanitizerShadow = sync.OnceValue(func() shadow {
	var s shadow
	if find(purego.RTLD_DEFAULT, map[string]*uintptr{
		"__asan_poison_memory_region": &s.poison, "__asan_unpoison_memory_region": &s.unpoison,
	}) != nil {
		return shadow{}
	}
	return s
})

// forbid tells a sanitizer that nobody may touch some memory.
func forbid(memory []byte) {
	if s := sanitizerShadow(); s.poison != 0 && len(memory) > 0 {
		purego.SyscallN(s.poison, address(memory), uintptr(len(memory)))
	}
}

// permit takes that back: the next mapping may lie in the same place.
func permit(memory []byte) {
	if s := sanitizerShadow(); s.unpoison != 0 && len(memory) > 0 {
		purego.SyscallN(s.unpoison, address(memory), uintptr(len(memory)))
	}
}
