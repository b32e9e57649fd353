package console

import (
	"runtime/debug"
	"strings"
)

// Version returns the program's version, with the commit and its date.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	words := []string{info.Main.Version}
	for _, s := range info.Settings { // revision, time and modified, in this order
		switch s.Key {
		case "vcs.revision":
			words = append(words, s.Value[:min(12, len(s.Value))])
		case "vcs.time":
			words = append(words, s.Value)
		case "vcs.modified":
			if s.Value == "true" {
				words = append(words, "with changes")
			}
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}
