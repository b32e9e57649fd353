// Package csource reads C, C++ and CUDA as far as a tool that writes about a source has to: it becomes tokens, those
// become what a compiler would see behind its directives and macros, and that becomes declarations. It compiles
// nothing and refuses nothing: what it does not understand is left out, or is odd.
package csource

import (
	"maps"
	"path/filepath"
	"strings"
)

// Unit is a source behind its preprocessor.
type Unit struct {
	Source   string
	Tokens   []Token // with macros put in, but for those that are tuned
	Pragmas  []Token
	Included []string // files, in their quotes or angle brackets
	Errors   []string // directives that stop a compiler
	Unset    []string // macros that decide what is compiled, and are not defined
	Defined  map[string]*Definition
	Vector   bool          // it has the processor's vector instructions
	Declared []Declaration // variables and functions
	// Instantiated is where the source asks for instances of a template, by its name.
	Instantiated map[string][]Place

	aliases  []Declaration // names of types
	order    []*Definition // those of the source
	uses     map[string]int
	asked    map[string]bool // used as a condition
	branches []branch
	room     int // how many tokens macros may still become
}

// mostExpanded bounds what macros become, which may double with each.
const mostExpanded = 1 << 18

// Read takes the directives out of a source; path tells its language, and macros are what a compiler is given.
func Read(source, path string, macros map[string]string) *Unit {
	u := &Unit{Source: source, Defined: map[string]*Definition{}, uses: map[string]int{}, asked: map[string]bool{},
		room: mostExpanded}
	given := map[string]string{"__GNUC__": "12", "__STDC_VERSION__": "201710L", "__linux__": "1", "__x86_64__": "1"}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".cu":
		given["__CUDACC__"], given["__CUDA_ARCH__"], given["__cplusplus"] = "1", "900", "201703L"
	case ".cc", ".cpp", ".cxx":
		given["__cplusplus"] = "201703L"
	}
	maps.Copy(given, macros)
	for name, value := range given {
		u.Defined[name] = &Definition{body: Scan(value), number: true}
	}
	all := Scan(source)
	if i := Index(all, "omp"); i > 0 && all[i-1].Text == "pragma" {
		u.Defined["_OPENMP"] = &Definition{body: Scan("201511"), number: true}
	}
	for i := 0; i < len(all); {
		directive, end := all[i].first && all[i].Text == "#", i+1
		for end < len(all) && !(all[end].first && (directive || all[end].Text == "#")) {
			end++
		}
		if directive {
			u.directive(all[i+1 : end])
		} else if u.live() {
			u.count(all[i:end])
			u.Tokens = append(u.Tokens, u.expand(all[i:end], nil, false)...)
		}
		i = end
	}
	for i, t := range u.Tokens {
		if t.Text == "_Pragma" {
			u.Pragmas = append(u.Pragmas, Scan(strings.Trim(At(u.Tokens, i+2), `"`))...)
		}
	}
	p := parser{tokens: withoutAttributes(u.Tokens), instances: map[string][]Place{}}
	p.file("")
	for _, d := range p.found {
		if d.alias {
			u.aliases = append(u.aliases, d)
		} else {
			u.Declared = append(u.Declared, d)
		}
	}
	u.Instantiated = p.instances
	return u
}

// Said is how tokens stand in the source.
func (u *Unit) Said(tokens []Token) string {
	if len(tokens) == 0 {
		return ""
	}
	return strings.Join(strings.Fields(u.Source[tokens[0].From:max(tokens[0].To, tokens[len(tokens)-1].To)]), " ")
}
