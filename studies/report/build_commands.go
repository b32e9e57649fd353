package report

import (
	"path"
	"strings"

	"pawl/internal/escape"
	"pawl/kernels"
	"pawl/objective"
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
	// folder, in a shell. A program is built and run.
	Command string `json:"command"`
	// Plain is the same without a header; empty where a macro's text would not
	// survive a command line.
	Plain string `json:"plain_command,omitempty"`
	// Libraries are the flags for linking, empty for none.
	Libraries string `json:"libraries,omitempty"`

	build *objective.Build
}

// suggestion returns what to do, nil for nothing.
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
	filled := *build
	filled.Flags = kernels.FlagsAt(build.Flags, s.Winner.Point)
	build = &filled
	made := &Suggestion{Header: headerName(s), Macros: append(macros(s), build.Constants...), build: build}
	if _, err := header(s, made); err != nil {
		return nil
	}
	made.Command = compileCommand(build, "-include", made.Header)
	made.Libraries = escape.Shell(build.Libraries...)
	var defines []string
	for _, macro := range made.Macros {
		if !survives(macro.Value, build) {
			return made
		}
		defines = append(defines, "-D"+macro.Name+"="+macro.Value)
	}
	made.Plain = compileCommand(build, defines...)
	return made
}

// macros are the parameters of the winner, as a build defines them.
func macros(s *Summary) (all []kernels.Constant) {
	for _, a := range s.Winner.Point.Assignments() {
		all = append(all, kernels.Constant{Name: a.Name, Value: a.Value.Define()})
	}
	return all
}

// survives reports whether a macro's text means the same on a command line: nvcc
// splits it at commas and hands it to a shell once more, and what cannot be seen
// cannot be copied.
func survives(text string, build *objective.Build) bool {
	if path.Base(build.Compiler[len(build.Compiler)-1]) == "nvcc" {
		return text == "" || escape.Shell(text) == text && !strings.Contains(text, ",")
	}
	return escape.Line(text) == text
}

// compileCommand returns the line that compiles the source in its folder.
func compileCommand(build *objective.Build, more ...string) string {
	words := append([]string{}, build.Compiler...)
	words = append(words, build.Flags...)
	words = append(words, more...)
	if strings.Contains(build.Source, "/") {
		words = append(words, "-I", ".") // its includes may be named from the kernel's folder
	}
	if len(build.Units) > 0 {
		return escape.Shell(append(append(words, "-c", build.Source), build.Units...)...)
	}
	object := strings.TrimSuffix(path.Base(build.Source), path.Ext(build.Source)) + ".o"
	return escape.Shell(append(words, "-c", build.Source, "-o", object)...)
}

// cmake returns the lines of a CMake file, empty where a macro's text would not
// survive them.
func (g *Suggestion) cmake() string {
	if g.Plain == "" {
		return ""
	}
	var text strings.Builder
	command := func(name string, words []string) {
		if len(words) == 0 {
			return
		}
		text.WriteString(name + "(YOUR_TARGET PRIVATE")
		for _, word := range words {
			text.WriteString("\n    " + escape.CMake(word))
		}
		text.WriteString(")\n")
	}
	var defines, options []string
	for _, macro := range g.Macros {
		defines = append(defines, macro.Name+"="+macro.Value)
	}
	for _, flag := range g.build.Flags {
		// CMake chooses the architecture by a property, and warns without one.
		if _, architecture, found := strings.Cut(flag, ",code=sm_"); found && strings.HasPrefix(flag, "-gencode=") {
			text.WriteString("set_target_properties(YOUR_TARGET PROPERTIES CUDA_ARCHITECTURES " + architecture + ")\n")
		} else {
			options = append(options, flag)
		}
	}
	command("target_compile_definitions", defines)
	command("target_compile_options", options)
	command("target_link_libraries", g.build.Libraries)
	return strings.TrimSuffix(text.String(), "\n")
}

// Withheld says why there is no suggestion although there is a winner, or nothing.
func Withheld(s *Summary) string {
	switch {
	case s.Evidence == nil || s.Suggestion != nil:
		return ""
	case !s.Advice.Verdict.Usable():
		return "There is nothing to apply, so there is no header: the table only says what was compared."
	case !ranHere(s.Study):
		return "Nothing was compiled here, so there is no header and no command that is known to work."
	}
	if s.Study.Environment.Build != nil {
		return "One of the winner's values cannot stand in a header, so there is none, and no command that is known to work."
	}
	return "The study was recorded before it was kept how a kernel is compiled, so there is no header and no command " +
		"that is known to work. Tune again to get them."
}

// programCommand returns the lines that build and run a program in its folder.
func programCommand(p *objective.Programs, values map[string]string) string {
	environment := ""
	for _, entry := range p.Environment {
		name, value, _ := strings.Cut(entry, "=")
		environment += name + "=" + escape.Shell(kernels.FillText(value, values)) + " "
	}
	text := ""
	if len(p.Build) > 0 {
		text = "mkdir -p out\n" + environment + escape.Shell(kernels.CommandLine(p.Build, values)...) + "\n"
	}
	return text + environment + escape.Shell(kernels.CommandLine(p.Run, values)...)
}
