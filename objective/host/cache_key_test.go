package host

import (
	"os"
	"testing"
)

// The same text in another language is another program: a comma, a character's size, a name's linkage.
func TestTheLanguageIsInTheKey(t *testing.T) {
	toolchain, err := FindCPlusPlus(t.Context(), os.Getenv)
	if err != nil {
		t.Skip(err)
	}
	b := &Backend{}
	keys := map[string]bool{}
	for _, in := range []language{languageC, languageCPlusPlus} {
		key, err := b.key(t.Context(), toolchain, nil, nil, []piece{{in, []byte("int x = sizeof 'a';\n")}})
		if err != nil {
			t.Fatal(err)
		}
		keys[key.String()] = true
	}
	if len(keys) != 2 {
		t.Error("C and C++ share a key")
	}
}
