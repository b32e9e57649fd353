package console

import (
	"fmt"
	"strings"
)

// Details writes the part of a command's help below its flags: an example and
// its exit codes.
func Details(text, example string, codes ...string) string {
	return fmt.Sprintf("%s\n\nExample:\n   %s\n\nExit codes: %s.", text, example, strings.Join(codes, ", "))
}
