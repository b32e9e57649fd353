package studies

import (
	"fmt"
	"slices"

	"pawl/internal/collect"
	"pawl/internal/escape"
)

// The values of flags that are not given.
const (
	DefaultOut      = "tuning"
	DefaultBaseline = "results/baseline.json"
)

// Place is where a command finds studies, pages and baselines: the flags of the same names. An empty one has its
// default.
type Place struct {
	Out, DB          string
	Policy, Baseline string
	Farm             string
}

// placed are the flags that say where something is, by command. A command that is not here has --out and --db.
var placed = map[string][]string{
	"baseline": {"baseline"},
	"farm":     {"db", "farm"},
	"gate":     {"out", "db", "policy", "baseline"},
	"serve":    {"out", "db", "baseline"},
}

// Pawl returns a command of pawl for a shell in the same folder: the words, and the flags without which it would look
// elsewhere.
func (p Place) Pawl(words ...any) string {
	texts := collect.Each(words, func(word any) string { return fmt.Sprint(word) })
	return escape.Shell(slices.Concat([]string{"pawl"}, texts, p.flags(texts))...)
}

// flags are those that a command needs to find the place.
func (p Place) flags(command []string) (flags []string) {
	known, special := placed[command[0]]
	for _, flag := range []struct{ name, value, usual string }{
		{"out", p.Out, DefaultOut}, {"db", Name(p.DB), ""}, {"policy", p.Policy, ""},
		{"baseline", p.Baseline, DefaultBaseline}, {"farm", p.Farm, ""},
	} {
		taken := slices.Contains(known, flag.name) || !special && (flag.name == "out" || flag.name == "db") ||
			flag.name == "farm" && slices.Contains(command, "--on")
		if taken && flag.value != "" && flag.value != flag.usual {
			flags = append(flags, "--"+flag.name, flag.value)
		}
	}
	return flags
}
