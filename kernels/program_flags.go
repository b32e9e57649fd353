package kernels

import (
	"slices"
	"strings"

	"pawl/kernels/document"
)

// programFlags are the beginnings of flags by which a compiler runs a program or loads code that the flag names, or
// reads further flags from a file. What they run would decide what is measured.
var programFlags = []string{
	"@", "-wrapper", "-fplugin", "-fpass-plugin", "-load", "-plugin", "--plugin", "-iplugindir", "-B", "-specs", "--specs",
	"-fuse-ld=/", "-fuse-ld=.", "--ld-path", "--prefix", "--config", "--gcc-toolchain", "--gcc-install-dir",
	"-ccc-install-dir", "--ptxas-path", "--cuda-path", "--compiler-bindir", "-ccbin", "--options-file", "-optf",
	"--target-directory", "-target-dir", "--run", "-run",
}

// libraryKinds are flags of linkers that begin like one of those.
var libraryKinds = []string{"-Bstatic", "-Bdynamic", "-Bsymbolic", "-Bsymbolic-functions", "-Bgroup"}

// runsProgram reports whether a flag, or a part of one that is passed on to another tool, has a program run.
func runsProgram(flag string) bool {
	if strings.HasPrefix(flag, "-D") || strings.HasPrefix(flag, "-U") {
		return false
	}
	for part := range strings.FieldsFuncSeq(flag, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		_, value, _ := strings.Cut(part, "=") // of -Xlinker=@file
		for _, prefix := range programFlags {
			if strings.HasPrefix(part, prefix) && !slices.Contains(libraryKinds, part) || strings.HasPrefix(value, prefix) {
				return true
			}
		}
	}
	return false
}

// programFlag refuses a flag that has a program run, by itself or with a value of a parameter.
func (b *builder) programFlag(flag document.Scalar) error {
	texts := []string{flag.Text}
	for _, match := range placeholder.FindAllStringSubmatch(flag.Text, -1) {
		for _, p := range b.kernel.params {
			for _, value := range p.Values {
				if p.Name == match[1] {
					texts = append(texts, strings.ReplaceAll(flag.Text, match[0], value.Define()))
				}
			}
		}
	}
	for _, text := range texts {
		if runsProgram(text) {
			return flag.At.Errorf("flag %q has the compiler run or load something: wrappers, plug-ins, other programs and "+
				"files of flags are refused, because they could change what is measured", text)
		}
	}
	return nil
}
