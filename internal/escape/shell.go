package escape

import (
	"regexp"
	"strings"
)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_=.,:/+-]+$`)

// Shell returns words as a line for a shell that a person may paste it into: each
// is one word there, and nothing in it is executed.
func Shell(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if !plainWord.MatchString(word) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// File returns the name of a file that no command takes for a flag.
func File(name string) string {
	if strings.HasPrefix(name, "-") {
		return "./" + name
	}
	return name
}

// CMake returns a word as one argument of a command in a CMake file.
func CMake(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, ";", `\;`).Replace(word) + `"`
}
