package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"pawl/space"
)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_=.,:/+-]+$`)

// DefineFlags returns the compiler flags of assignments, quoted for a shell
// that a person may paste them into.
func DefineFlags(assignments []space.Assignment) []string {
	var flags []string
	for _, a := range assignments {
		flags = append(flags, shellQuote("-D"+a.Name+"="+a.Value.Define()))
	}
	return flags
}

func shellQuote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func cmakeQuote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, ";", `\;`).Replace(word) + `"`
}

// HeaderName returns the name of the generated header.
func HeaderName(s *Summary) string {
	return fmt.Sprintf("%s_%s.h", s.Study.Kernel, s.Study.Workload)
}

// Header writes the winner's values as a C header.
func Header(w io.Writer, s *Summary) error {
	var text strings.Builder
	fmt.Fprintf(&text, "/* Written by pawl: %s for workload %s on %s.\n", s.Study.Kernel, s.Study.Workload, commentText(s.Study.Environment.Device))
	fmt.Fprintf(&text, " * %s */\n#pragma once\n\n", commentText(s.Advice.Sentence))
	for _, a := range s.Defines() {
		// A value given on the command line wins over the header.
		fmt.Fprintf(&text, "#ifndef %s\n#define %s %s\n#endif\n", a.Name, a.Name, strings.ReplaceAll(a.Value.Define(), "\n", " "))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func commentText(text string) string { return strings.ReplaceAll(text, "*/", "* /") }
