package includes

import (
	"fmt"
	"regexp"
	"strings"

	"pawl/internal/collect"
)

// unrollPragma is one that takes a name: #pragma unroll NAME, #pragma GCC unroll NAME.
var unrollPragma = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*pragma[ \t]+(?:GCC[ \t]+)?unroll[ \t]*\(?[ \t]*([A-Za-z_]\w*)`)

// Unrolled returns the names that pragmas unroll by, in the order of the text.
func Unrolled(source []byte) []string {
	matches := unrollPragma.FindAllSubmatch(source, -1)
	return collect.Distinct(collect.Each(matches, func(match [][]byte) string { return string(match[1]) }))
}

// Constant makes a macro also a constant of the same name. Compilers expand no macro in a pragma,
// and look for something of that name instead; everywhere else the macro is found first.
func Constant(name, value string) string {
	return fmt.Sprintf("#undef %[1]s\nenum { %[1]s = %[2]s };\n#define %[1]s %[2]s\n", name, strings.TrimSpace(value))
}
