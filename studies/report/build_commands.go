package report

import (
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
	case s.Study.Backend == studies.Replay:
		return "Nothing was compiled here: a recording was searched, and there is nothing to apply."
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
