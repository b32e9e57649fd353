package escape

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// longestName is the most that a part of a file's name may have, in bytes: file
// systems take 255.
const longestName = 100

// FileName returns text as a part of a file's name: letters, digits, dots, dashes
// and underscores, never a path, a hidden file or an option. A text that had to be
// changed ends in a digest, so that no two share a name.
func FileName(text string) string {
	name := notInNames.ReplaceAllString(text, "_")
	name = strings.TrimLeft(name, ".-")
	if len(name) > longestName {
		name = name[:longestName]
	}
	if name == text && name != "" {
		return name
	}
	sum := sha256.Sum256([]byte(text))
	return strings.TrimLeft(name+"-"+hex.EncodeToString(sum[:4]), "-")
}
