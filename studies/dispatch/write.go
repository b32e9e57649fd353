package dispatch

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

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
	paths, err := page.WriteFiles(folder, files...)
	if err != nil {
		return paths, fmt.Errorf("writing the table: %w", err)
	}
	return paths, nil
}

// CMake writes a file with one function, PREFIX_add(TARGET FOLDER), which adds every variant
// of the kernel in a folder to a target, built as it was measured. Several targets share the objects.
func (t *Table) CMake(w io.Writer) error {
	var text strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&text, format+"\n", arguments...) }
	line("# Written by pawl: %d variants of %s.", len(t.Variants), escape.Line(t.Kernel))
	line("#   include(%s.cmake)", t.Prefix)
	line("#   %s_add(TARGET FOLDER) # the folder of the kernel", t.Prefix)
	line("include_guard(GLOBAL)")
	line("if(COMMAND %s_add)", t.Prefix)
	line("  message(FATAL_ERROR \"two tables with the prefix %s: pawl dispatch --prefix gives one another name\")",
		t.Prefix)
	line("endif()")
	line("set_property(GLOBAL PROPERTY %s_FOLDER \"${CMAKE_CURRENT_LIST_DIR}\")", t.Prefix)
	line("function(%s_add target folder)", t.Prefix)
	line("  get_property(here GLOBAL PROPERTY %s_FOLDER)", t.Prefix)
	line("  get_filename_component(folder \"${folder}\" ABSOLUTE)")
	line("  set(built \"${CMAKE_BINARY_DIR}/%s\")", t.Prefix)
	line("  if(NOT TARGET %s_0)", t.Prefix)
	for i, v := range t.Variants {
		t.object(line, i, v)
	}
	line("  endif()")
	for i, v := range t.Variants {
		name := fmt.Sprintf("%s_%d", t.Prefix, i)
		if len(v.Units) > 0 {
			line("  set_source_files_properties(\"${built}/%s.o\" PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)", name)
			line("  target_sources(${target} PRIVATE \"${built}/%s.o\")", name)
			line("  add_dependencies(${target} %s_joined)", name)
		} else {
			line("  target_sources(${target} PRIVATE $<TARGET_OBJECTS:%s>)", name)
		}
		for _, library := range v.Libraries {
			line("  target_link_libraries(${target} PRIVATE %s)", escape.CMake(library))
		}
	}
	line("  target_include_directories(${target} PRIVATE \"${here}\")")
	line("endfunction()")
	_, err := io.WriteString(w, text.String())
	return err
}

// object writes how a variant is compiled: files that define the macros and include the kernel's.
func (t *Table) object(line func(format string, arguments ...any), i int, v Variant) {
	name := fmt.Sprintf("%s_%d", t.Prefix, i)
	var sources []string
	for n, file := range append([]string{v.File}, v.Units...) {
		source := fmt.Sprintf(`"${built}/%s_%d%s"`, name, n, strings.Trim(escape.CMake(filepath.Ext(file)), `"`))
		define, include := "", fmt.Sprintf(`#include \"%s\"\n`, strings.Trim(inFolder(file), `"`))
		if n == 0 && len(v.Instances) > 0 {
			define, include = "#define "+objective.UnitMacro(t.Prefix+".h")+`\n`, ""
		}
		line(`    file(GENERATE OUTPUT %s CONTENT "%s#include \"${here}/%s.h\"\n%s")`, source, define, t.Prefix, include)
		sources = append(sources, source)
	}
	line("    set_source_files_properties(%s PROPERTIES GENERATED TRUE)", strings.Join(sources, " "))
	line("    add_library(%s OBJECT %s)", name, strings.Join(sources, " "))
	line("    target_compile_definitions(%s PRIVATE %s_BUILD=%d)", name, strings.ToUpper(t.Prefix), i)
	flags, includes, architecture := sorted(v.Flags)
	for _, include := range append(includes, ".") {
		line("    target_include_directories(%s PRIVATE %s)", name, inFolder(include))
	}
	if architecture != "" {
		line("    set_target_properties(%s PROPERTIES CUDA_ARCHITECTURES %s)", name, escape.CMake(architecture))
	}
	line("    target_compile_options(%s PRIVATE %s)", name, escape.CMake("SHELL:"+escape.Shell(flags...)))
	if len(v.Units) == 0 {
		return
	}
	line("    add_custom_command(OUTPUT \"${built}/%s.o\" DEPENDS %s $<TARGET_OBJECTS:%s>", name, name, name)
	for _, words := range t.joining(v, []string{"$<TARGET_OBJECTS:" + name + ">"}, name) {
		for n, word := range words {
			if n > 0 && strings.HasSuffix(word, ".o") {
				words[n] = `"${built}/` + word + `"`
			} else if !strings.HasPrefix(word, "$<") {
				words[n] = escape.CMake(word)
			}
		}
		line("      COMMAND %s", strings.Join(words, " "))
	}
	line("      COMMAND_EXPAND_LISTS VERBATIM)")
	line("    add_custom_target(%s_joined DEPENDS \"${built}/%s.o\")", name, name)
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
