package kernels

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pawl/kernels/document"
)

// ownInclude finds what a source includes by a name of its own: names may be declared there.
var ownInclude = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*"`)

// checkNames makes sure that the source has every symbol and every function of a list of
// launches, unless it includes files of its own: then a compiler says it later, and for every
// point.
func (k *Kernel) checkNames(folder fs.FS) error {
	var source []byte
	has := func(name, before string) (bool, error) {
		if source == nil {
			var err error
			if source, err = fs.ReadFile(folder, filepath.ToSlash(filepath.Clean(k.Source))); err != nil {
				return false, err
			}
		}
		return regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+before).Match(source) || ownInclude.Match(source), nil
	}
	for _, a := range k.Arguments {
		if a.Symbol == "" {
			continue
		}
		if there, err := has(a.Symbol, `\b`); err != nil || !there {
			return orElse(err,
				a.SymbolAt.Errorf("argument %s: %s has no variable %s; declare it at file scope, without static or const", a.Name,
					k.Source, a.Symbol))
		}
	}
	for _, step := range k.Launch.Steps {
		name := PlainName(step.Entry)
		if step.at == (document.Place{}) {
			continue
		}
		// Before its parameters, or among those of a macro that writes them.
		if there, err := has(name, `\s*[(,)]`); err != nil || !there {
			return orElse(err, step.at.Errorf("launch: %s has no function %s; %s", k.Source, name, functions(source)))
		}
	}
	return nil
}

// kernelFunction finds the names of kernels for CUDA, behind what bounds their launches.
var kernelFunction = regexp.MustCompile(
	`__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*|__\w+__\s+)*\w+\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(`)

// functions says what else there is to name.
func functions(source []byte) string {
	var names []string
	for _, match := range kernelFunction.FindAllSubmatch(source, -1) {
		names = append(names, string(match[1]))
	}
	if len(names) == 0 {
		return "write it, or name one that is there"
	}
	slices.Sort(names)
	return "there are " + strings.Join(slices.Compact(names), ", ")
}

func orElse(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
