package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"pawl/internal/escape"
	"pawl/objective"
	"pawl/studies"
)

// headerMark begins every header that we write, and nothing else does.
const headerMark = "/* Written by pawl: "

// IsHeader reports whether we have written a file, as a header.
func IsHeader(content []byte) bool { return bytes.HasPrefix(content, []byte(headerMark)) }

func headerName(s studies.Study) string {
	return escape.FileName(s.Kernel) + "_" + escape.FileName(s.Workload) + ".h"
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
	defines, err := g.recipe.Defines(g.Header)
	if err != nil {
		return "", err
	}
	name := "tuned_" + strings.ToLower(strings.TrimSuffix(objective.UnitMacro(g.Header), "_UNIT"))
	once := "#pragma once\n"
	if len(g.recipe.Instances) > 0 { // what is compiled is the header itself
		once = fmt.Sprintf("#ifndef %s\n%s#endif\n", objective.UnitMacro(g.Header), once)
	}
	return fmt.Sprintf("%s%s for workload %s on %s, study %d.\n * %s\n * %s\n * Compile with: %s\n */\n%s%s%s", headerMark,
		escape.Comment(s.Study.Kernel), escape.Comment(s.Study.Workload), escape.Comment(s.Study.Environment.Device),
		s.Study.ID, escape.Comment(s.Advice.Sentence), escape.Comment(s.Figures()), escape.Comment(g.Command), once, defines,
		g.recipe.Instantiate(g.Header, name)), nil
}
