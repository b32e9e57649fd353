package report

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/kernels"
	"pawl/objective"
	"pawl/space"
	"pawl/studies"
)

// Suggestion is what to do to get what was measured. There is one only where the
// advice is to apply the winner, and where it is known how the winner was built. A
// record is no such knowledge: it may come from anybody, and names commands.
type Suggestion struct {
	// Macros are the winner's parameters and then what the workload's sizes decide,
	// each with its text.
	Macros []kernels.Constant `json:"macros"`
	// Header is the name of the file that defines them; empty for a program, which has none.
	Header string `json:"header,omitempty"`
	// Command compiles the source with the header beside it, in the kernel's
	// folder, in a shell. A program is built and run, and a language of tiles is told by a module for Python.
	Command string `json:"command"`
	// Libraries are the flags for linking, empty for none.
	Libraries string `json:"libraries,omitempty"`

	recipe objective.Recipe
}

func suggestion(s *Summary) *Suggestion {
	build := s.Study.Environment.Build
	switch {
	case s.Evidence == nil || !s.Advice.Verdict.Usable():
		return nil
	case s.Study.Environment.Programs != nil:
		return programSuggestion(s)
	case build == nil || !ranHere(s.Study):
		return nil
	}
	if build.Compile != nil {
		command := kernels.ObjectCommand(build.Source, build.Compile, s.Winner.Point, build.Constants)
		return &Suggestion{Command: escape.Shell(command...), Macros: macros(s)}
	}
	recipe := build.At(s.Winner.Point)
	if len(recipe.Compiler) == 0 {
		return &Suggestion{Command: s.Study.Place.Pawl("dispatch", s.Study.Origin, "--workload", s.Study.Workload,
			"--python"), Macros: recipe.Macros}
	}
	made := &Suggestion{Header: headerName(s.Study), Macros: recipe.Macros, recipe: recipe}
	var commands []string
	for _, file := range append([]string{recipe.File}, recipe.Units...) {
		object := strings.TrimSuffix(path.Base(file), path.Ext(file)) + ".o"
		commands = append(commands, recipe.Command(file, made.Header, object))
	}
	made.Command, made.Libraries = strings.Join(commands, " && "), escape.Shell(recipe.Libraries...)
	if _, err := header(s, made); err != nil {
		return nil
	}
	return made
}

// macros are the parameters of the winner, as a build defines them.
func macros(s *Summary) []kernels.Constant {
	return collect.Each(s.Winner.Point.Assignments(), func(a space.Assignment) kernels.Constant {
		return kernels.Constant{Name: a.Name, Value: a.Value.Define()}
	})
}

// Withheld says why there is no suggestion although there is a winner, or nothing.
func Withheld(s *Summary) string {
	switch {
	case s.Evidence == nil || s.Suggestion != nil || !s.Advice.Verdict.Usable():
		return ""
	case !ranHere(s.Study):
		return "Nothing was compiled here, so there is no header and no command that is known to work."
	}
	return "One of the winner's values cannot stand in a header, so there is none, and no command that is known to work."
}

// programCommand returns the lines that build and run a program in its folder.
func programCommand(p *objective.Programs, values map[string]string) string {
	environment, text, lines := "", "", p.At(values)
	for _, entry := range lines.Environment {
		name, value, _ := strings.Cut(entry, "=")
		environment += name + "=" + escape.Shell(value) + " "
	}
	if len(lines.Build) > 0 {
		text = "mkdir -p out\n" + environment + escape.Shell(lines.Build...) + "\n"
	}
	return text + environment + escape.Shell(lines.Run...)
}

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
