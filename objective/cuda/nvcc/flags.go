package nvcc

import "strings"

// mentioned is what a compiler's flags say about files.
type mentioned struct {
	folders []string // searched for includes
	files   []string // included first, or holding more flags
}

// The flags that name folders and files. Both compilers accept a value as the
// next argument, after an equals sign or, for short flags, at once; nvcc splits
// it at commas.
var (
	folderFlags = []string{"--include-path", "--system-include", "-isystem", "-I"}
	fileFlags   = []string{"--pre-include", "-include", "--options-file", "-optf"}
)

// readFlags returns the folders and files that flags name.
func readFlags(flags []string) mentioned {
	var m mentioned
	for i := 0; i < len(flags); i++ {
		next := ""
		if i+1 < len(flags) {
			next = flags[i+1]
		}
		if value, consumed, ok := flagValue(flags[i], next, folderFlags); ok {
			m.folders = append(m.folders, strings.Split(value, ",")...)
			i += consumed
		} else if value, consumed, ok := flagValue(flags[i], next, fileFlags); ok {
			m.files = append(m.files, strings.Split(value, ",")...)
			i += consumed
		}
	}
	return m
}

// flagValue returns the value of a flag if it is one of names, and how many
// further arguments that took.
func flagValue(flag, next string, names []string) (value string, consumed int, ok bool) {
	for _, name := range names {
		rest, found := strings.CutPrefix(flag, name)
		switch {
		case !found:
		case rest == "":
			return next, 1, true
		case rest[0] == '=':
			return rest[1:], 0, true
		case name == "-I":
			return rest, 0, true
		}
	}
	return "", 0, false
}
