package console

import (
	"fmt"
	"strings"
)

// Everyday is the group of the commands that a newcomer needs.
const Everyday = "Everyday"

// Details writes the part of a command's help below its flags: an example and
// its exit codes.
func Details(text, example string, codes ...string) string {
	return fmt.Sprintf("%s\n\nExample:\n   %s\n\nExit codes: %s.", text, example, strings.Join(codes, ", "))
}
