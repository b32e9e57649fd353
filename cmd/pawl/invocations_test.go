package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
)

// optional is a shell's way to write an argument only where a variable is set.
var optional = regexp.MustCompile(`\$\{[A-Z_]+:\+([^}]*)\}`)

// command is where a command may begin in a shell: at the start, after an operator or
// inside parentheses.
var command = regexp.MustCompile(`(?:^|[|&;({!]\s*|\$\()\s*(?:go run \./cmd/)?pawl(?: |$)`)

// invocations returns the calls of pawl in lines of shell, as words without the program.
func invocations(script string) [][]string {
	script = strings.ReplaceAll(script, "\\\n", " ")
	var found [][]string
	for line := range strings.Lines(script) {
		line = optional.ReplaceAllString(strings.TrimSpace(line), "$1")
		for _, at := range command.FindAllStringIndex(line, -1) {
			if strings.HasPrefix(line, "#") {
				break
			}
			found = append(found, words(line[at[1]:]))
		}
	}
	return found
}

// words splits the rest of a call as far as it goes. Quotes are kept together and left out.
func words(text string) []string {
	var all []string
	var word strings.Builder
	quote, begun := rune(0), false
	flush := func() {
		if begun {
			all = append(all, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == ' ' || c == '\t':
			flush()
		case c == '#' && !begun, strings.ContainsRune("|&;)<>`", c):
			flush()
			return all
		default:
			begun = true
			word.WriteRune(c)
		}
	}
	flush()
	return all
}

// exists checks that a call names a command and flags that there are.
func exists(app *cli.App, call []string) error {
	if end := slices.Index(call, "--"); end >= 0 { // what follows is another program's
		call = call[:end]
	}
	commands, flags := app.Commands, append(slices.Clone(app.Flags), cli.HelpFlag, cli.VersionFlag)
	var last *cli.Command
	for len(call) > 0 && !strings.HasPrefix(call[0], "-") {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(call[0]) })
		if i < 0 {
			break
		}
		last, call = commands[i], call[1:]
		commands, flags = last.Subcommands, append(slices.Clone(last.Flags), cli.HelpFlag)
	}
	if last == nil && len(call) > 0 && !strings.HasPrefix(call[0], "-") {
		return fmt.Errorf("no command %q", call[0])
	}
	if last != nil && len(last.Subcommands) > 0 && len(call) > 0 && last.ArgsUsage == "" &&
		!strings.HasPrefix(call[0], "-") {
		return fmt.Errorf("pawl %s has no command %q", last.Name, call[0])
	}
	for _, word := range call {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if !strings.HasPrefix(word, "-") || name == "" {
			continue
		}
		if !slices.ContainsFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }) {
			return fmt.Errorf("no flag %s", word)
		}
	}
	return nil
}

func TestInvocationsAreFound(t *testing.T) {
	script := `[ ! -e x ] || pawl baseline show # not pawl nothing
# pawl comment
pawl gate --cache "a b" ${BASE:+--base "$BASE"} || {
  ! pawl compare a b; (cd x && pawl space)
} && y=$(pawl ci matrix --runner "$L")
go build -o "$RUNNER_TEMP/pawl/" ./cmd/pawl
go run ./cmd/pawl tune \
  --trials 3`
	want := [][]string{
		{"baseline", "show"},
		{"gate", "--cache", "a b", "--base", "$BASE"},
		{"compare", "a", "b"},
		{"space"},
		{"ci", "matrix", "--runner", "$L"},
		{"tune", "--trials", "3"},
	}
	got := invocations(script)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	app := newApp(console.Environment{})
	for call, good := range map[string]bool{
		"gate attention --policy x": true, "gate --polcy x": false, "gate bisect --beside x": true, "nothing": false,
		"baseline nothing": false,
		"--version":        true, "gate bisect --besid x": false, "ci --help": true, "tune -w x": true,
	} {
		if err := exists(app, strings.Fields(call)); (err == nil) != good {
			t.Errorf("pawl %s: %v", call, err)
		}
	}
}
