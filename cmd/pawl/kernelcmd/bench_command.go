package kernelcmd

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"pawl/cmd/pawl/console"
	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/internal/process"
	"pawl/objective/command"
)

// commandReport is what measuring a command writes: the form of hyperfine's export, which
// pawl compare and other tools read.
type commandReport struct {
	Results []*command.Measurement `json:"results"`
}

func (r commandReport) JSON(w io.Writer) error { return page.JSON(w, "pawl bench command", 1, r) }

// longRun is how long a command may take that a person has typed, where nothing else is said.
const longRun = time.Hour

// benchLines are the commands behind --. One is a program with its arguments, and no shell sees it. Where the first
// word is no program but has blanks, each word is a line for the shell, as other tools have it.
func benchLines(words []string, allowed time.Duration) []command.Line {
	if _, err := exec.LookPath(words[0]); err == nil || !strings.ContainsAny(words[0], " \t") {
		return []command.Line{{Command: process.Command{Line: words, Allowed: allowed}}}
	}
	return collect.Each(words, func(word string) command.Line { return shellLine(word, allowed) })
}

func shellLine(text string, allowed time.Duration) command.Line {
	return command.Line{Name: text, Command: process.Command{Line: []string{"sh", "-c", text}, Allowed: allowed}}
}

// benchCommandLine measures commands that are no kernels.
func (o *benchOptions) benchCommandLine(ctx context.Context, arguments []string,
	limited bool) error {
	switch {
	case len(o.Command) == 0:
		return console.Usagef("bench -- COMMAND…: there is no command behind --")
	case len(arguments) > 0:
		return console.Usagef("either a kernel or a command behind --, not both: %s", strings.Join(arguments, " "))
	}
	allowed := longRun
	if limited {
		allowed = o.RunTimeout
	}
	ctx, done := o.Stoppable(ctx)
	defer done()
	if o.prepare != "" {
		o.repeat.Prepare = shellLine(o.prepare, allowed)
	}
	all, fault, err := o.repeat.Run(ctx, benchLines(o.Command, allowed)...)
	switch {
	case ctx.Err() != nil:
		return console.Answer(console.ExitInterrupted)
	case err != nil:
		return err
	case fault != nil:
		fmt.Fprintf(o.Stdout, "%s: %s\n", escape.Line(all[0].Command), escape.Line(fault.Error()))
		return console.Answer(console.ExitNo)
	}
	report := commandReport{all}
	if o.results != "" {
		if err := page.WriteFile(o.results, report.JSON); err != nil {
			return fmt.Errorf("the results: %w", err)
		}
	}
	if o.JSON {
		return report.JSON(o.Stdout)
	}
	for i, m := range all {
		if i > 0 {
			fmt.Fprintln(o.Stdout)
		}
		fmt.Fprint(o.Stdout, m.Text())
	}
	if o.results != "" {
		fmt.Fprintf(o.Stdout, "wrote %s\n", o.results)
	}
	return nil
}
