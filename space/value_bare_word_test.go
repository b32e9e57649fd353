package space

import (
	"regexp"
	"testing"
)

// What a word is, said twice.
func FuzzWord(f *testing.F) {
	for _, text := range []string{"", "a", "_", "9", "a9", "BLOCK_M", "a.b", "+a", "a+", "a-b", "é", "aé", "a\n", "a b",
		"."} {
		f.Add(text)
	}
	name, bare := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`), regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.+-]*$`)
	f.Fuzz(func(t *testing.T, text string) {
		if identifier.MatchString(text) != name.MatchString(text) || bareWord.MatchString(text) != bare.MatchString(text) {
			t.Errorf("%q", text)
		}
	})
}
