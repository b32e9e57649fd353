package host

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"pawl/kernels"
)

// language is what a source is written in, as compilers name it.
type language string

const (
	languageC         language = "c"
	languageCPlusPlus language = "c++"
)

// languageOf goes by the file's name; what is not known to be C++ is C.
func languageOf(source string) language {
	if slices.Contains(kernels.CPlusPlusSuffixes, strings.ToLower(filepath.Ext(source))) {
		return languageCPlusPlus
	}
	return languageC
}

// flags make a compiler take a file for this language, where its name does not say so.
func (l language) flags(source string) []string {
	if l == languageCPlusPlus || filepath.Ext(source) == ".c" {
		return nil
	}
	return []string{"-x", string(languageC)}
}

// linkage is what a declaration needs that is to be found by its plain name.
func (l language) linkage() string {
	if l == languageCPlusPlus {
		return `extern "C" `
	}
	return ""
}

// FindToolchains returns the compilers that a kernel needs: that for C, which the timing
// support needs in any case, and that for C++ where a source of the kernel is, nil otherwise.
func FindToolchains(ctx context.Context, k *kernels.Kernel,
	getenv func(string) string) (forC, forCPlusPlus *Toolchain, err error) {
	if forC, err = FindToolchain(ctx, getenv); err != nil {
		return nil, nil, err
	}
	for _, source := range append([]string{k.Reference}, k.Sources()...) {
		if languageOf(source) == languageCPlusPlus {
			forCPlusPlus, err = FindCPlusPlus(ctx, getenv)
			return forC, forCPlusPlus, err
		}
	}
	return forC, nil, nil
}

func (b *Backend) toolchain(l language) *Toolchain {
	if l == languageCPlusPlus {
		return b.options.CPlusPlus
	}
	return b.options.Toolchain
}
