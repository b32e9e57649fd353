package kernels

import (
	"io/fs"
	"path/filepath"
	"regexp"
)

// ownInclude finds what a source includes by a name of its own: a symbol may be declared there.
var ownInclude = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*"`)

// checkSymbols makes sure that the source names every symbol, unless it includes files of its
// own: then a compiler says it later, and for every point.
func (k *Kernel) checkSymbols(folder fs.FS) error {
	var source []byte
	for _, a := range k.Arguments {
		if a.Symbol == "" {
			continue
		}
		if source == nil {
			var err error
			if source, err = fs.ReadFile(folder, filepath.ToSlash(filepath.Clean(k.Source))); err != nil {
				return err
			}
		}
		if !regexp.MustCompile(`\b`+a.Symbol+`\b`).Match(source) && !ownInclude.Match(source) {
			return a.symbolAt.errorf("argument %s: %s has no variable %s; declare it at file scope, without static or const", a.Name, k.Source, a.Symbol)
		}
	}
	return nil
}
