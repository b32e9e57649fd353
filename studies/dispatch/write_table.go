package dispatch

import (
	_ "embed"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective"
)

// Write writes the header, the JSON and the CMake file into a folder, and the module for Python where that is asked
// for, each as a whole or not at all, and returns their paths. A kernel on tiles is launched from Python alone.
func (t *Table) Write(folder string, python bool) ([]string, error) {
	written := *t
	written.Variants = slices.Clone(t.Variants)
	for i := range written.Variants {
		if !t.Tiles {
			written.Variants[i].Build, written.Variants[i].Object = t.Command(i), fmt.Sprintf("%s_%d.o", t.Prefix, i)
		}
	}
	files := []page.File{{Name: t.Prefix + ".json", Render: func(w io.Writer) error {
		return page.JSON(w, "pawl dispatch table", 1, &written)
	}}}
	if !t.Tiles {
		files = append(files, page.File{Name: t.Prefix + ".h", Render: t.Header},
			page.File{Name: t.Prefix + ".cmake", Render: t.CMake})
	}
	if python || t.Tiles {
		files = append(files, page.File{Name: t.Prefix + ".py", Render: t.Python})
	}
	return page.WriteFiles(folder, files...)
}

//go:embed table.cmake.tmpl
var cmakeText string

var cmakeTemplate = template.Must(template.New("cmake").Funcs(template.FuncMap{
	"line":     escape.Line,
	"upper":    strings.ToUpper,
	"word":     escape.CMake,
	"inFolder": inFolder,
}).Parse(cmakeText))

// CMake writes a file with one function, PREFIX_add(TARGET FOLDER), which adds every variant
// of the kernel in a folder to a target, built as it was measured. Several targets share the objects.
func (t *Table) CMake(w io.Writer) error {
	targets := make([]target, len(t.Variants))
	for i := range targets {
		targets[i] = t.target(i)
	}
	return cmakeTemplate.Execute(w, struct {
		*Table
		Targets []target
	}{t, targets})
}

// target is how CMake compiles a variant: files that define the macros and include the kernel's, which Joining makes
// one object of where they are several.
type target struct {
	Name                  string
	Files                 []struct{ Name, Content string }
	Sources               string // the names of all files
	Includes              []string
	Options, Architecture string
	Joining, Libraries    []string
}

func (t *Table) target(variant int) target {
	v := t.Variants[variant]
	made := target{Name: fmt.Sprintf("%s_%d", t.Prefix, variant), Libraries: v.Libraries}
	for n, file := range append([]string{v.File}, v.Units...) {
		name := fmt.Sprintf(`"${built}/%s_%d%s"`, made.Name, n, strings.Trim(escape.CMake(filepath.Ext(file)), `"`))
		content := fmt.Sprintf(`#include \"${here}/%s.h\"\n`, t.Prefix)
		if n == 0 && len(v.Instances) > 0 {
			content = "#define " + objective.UnitMacro(t.Prefix+".h") + `\n` + content
		} else {
			content += fmt.Sprintf(`#include \"%s\"\n`, strings.Trim(inFolder(file), `"`))
		}
		made.Files = append(made.Files, struct{ Name, Content string }{name, content})
		made.Sources = strings.TrimSpace(made.Sources + " " + name)
	}
	var flags []string
	flags, made.Includes, made.Architecture = sorted(v.Flags)
	made.Includes, made.Options = append(made.Includes, "."), "SHELL:"+escape.Shell(flags...)
	if len(v.Units) == 0 {
		return made
	}
	for _, words := range t.joining(v, []string{"$<TARGET_OBJECTS:" + made.Name + ">"}, made.Name) {
		for n, word := range words {
			if n > 0 && strings.HasSuffix(word, ".o") {
				words[n] = `"${built}/` + word + `"`
			} else if !strings.HasPrefix(word, "$<") {
				words[n] = escape.CMake(word)
			}
		}
		made.Joining = append(made.Joining, strings.Join(words, " "))
	}
	return made
}

// inFolder is a file of the kernel's folder in CMake; an absolute path stays.
func inFolder(file string) string {
	quoted := strings.Trim(escape.CMake(filepath.ToSlash(file)), `"`)
	if filepath.IsAbs(file) {
		return `"` + quoted + `"`
	}
	return `"${folder}/` + quoted + `"`
}

// sorted takes from the flags what CMake wants to hear otherwise: folders of includes, which
// are relative to the kernel's, and the architecture, without which it warns.
func sorted(flags []string) (rest, includes []string, architecture string) {
	for i := 0; i < len(flags); i++ {
		flag := flags[i]
		if _, after, found := strings.Cut(flag, ",code=sm_"); found && strings.HasPrefix(flag, "-gencode=") {
			architecture = after
		} else if flag == "-I" && i+1 < len(flags) {
			i++
			includes = append(includes, flags[i])
		} else if folder, include := strings.CutPrefix(flag, "-I"); include && folder != "" {
			includes = append(includes, folder)
		} else {
			rest = append(rest, flag)
		}
	}
	return rest, includes, architecture
}
