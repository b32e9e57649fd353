package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"pawl/internal/escape"
)

// headerMark begins every header that we write, and nothing else does.
const headerMark = "/* Written by pawl: "

// IsHeader reports whether we have written a file, as a header.
func IsHeader(content []byte) bool { return bytes.HasPrefix(content, []byte(headerMark)) }

// headerName returns the name of the generated header.
func headerName(s *Summary) string {
	return escape.FileName(s.Study.Kernel) + "_" + escape.FileName(s.Study.Workload) + ".h"
}

// Header writes the suggestion as a C header: all macros that the measured build
// had. It takes the place of nothing: where a macro is defined already, by another
// header or on the command line, the result would be a mixture that was never
// measured, so that is an error.
func Header(w io.Writer, s *Summary) error {
	if s.Suggestion == nil {
		return fmt.Errorf("study %d suggests nothing, so it has no header", s.Study.ID)
	}
	text, err := header(s, s.Suggestion)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

func header(s *Summary, g *Suggestion) (string, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s%s for workload %s on %s, study %d.\n", headerMark, escape.Comment(s.Study.Kernel),
		escape.Comment(s.Study.Workload),
		escape.Comment(s.Study.Environment.Device), s.Study.ID)
	fmt.Fprintf(&text, " * %s\n * %s\n * Compile with: %s\n */\n#pragma once\n", escape.Comment(s.Advice.Sentence),
		escape.Comment(s.Figures()), escape.Comment(g.Command))
	for _, m := range g.Macros {
		value, err := escape.Macro(m.Value)
		if err != nil {
			return "", fmt.Errorf("the value of %s cannot stand in a header: %w", m.Name, err)
		}
		fmt.Fprintf(&text,
			"\n#ifdef %[1]s\n#error \"%[1]s is defined before %[2]s: use one tuned header per file, and no -D for its "+
				"macros\"\n#endif\n#define %[1]s %[3]s\n",
			m.Name, g.Header, value)
	}
	return text.String(), nil
}
