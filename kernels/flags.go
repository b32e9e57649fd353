package kernels

import (
	"regexp"
	"slices"
	"strings"
)

// optimised is the flag that a kernel gets whose manifest says nothing about
// optimisation. A compiler's own default is none at all, or is by backend another
// one than people build with, and what is best without is seldom best with it.
var optimised = map[string]string{Host: "-O2", CUDA: "-O3"}

// levels are the beginnings of flags that decide about optimisation; so does -G,
// which has nvcc build for a debugger.
var levels = []string{"-O", "--optimize", "--device-debug"}

// flags takes the flags as they are, behind a level of optimisation where they name
// none. -O0 asks for none.
func (b *builder) flags() error {
	for _, flag := range b.keys.Flags {
		b.kernel.Flags = append(b.kernel.Flags, flag.text)
	}
	if !optimises(b.kernel.Flags) {
		b.kernel.Flags = slices.Insert(b.kernel.Flags, 0, optimised[b.backend])
	}
	given := b.keys.ArchSpecific
	b.kernel.ArchSpecific = given.text != "" && given.text != "false"
	if !b.kernel.ArchSpecific || given.text == "true" {
		return nil
	}
	if !specificArchitecture.MatchString(given.text) {
		return given.at.errorf("arch_specific is %q: it is true, false, or the architecture that the kernel needs, such as sm_90a", given.text)
	}
	b.kernel.Architecture = given.text
	return nil
}

var specificArchitecture = regexp.MustCompile(`^sm_\d+a$`)

// optimises reports whether flags say how much to optimise. What follows -Xlinker
// or -Xptxas is another program's.
func optimises(flags []string) bool {
	for i, flag := range flags {
		if i > 0 && strings.HasPrefix(flags[i-1], "-X") && !strings.Contains(flags[i-1], "=") {
			continue
		}
		if flag == "-G" || slices.ContainsFunc(levels, func(level string) bool { return strings.HasPrefix(flag, level) }) {
			return true
		}
	}
	return false
}
