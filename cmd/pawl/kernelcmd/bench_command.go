package kernelcmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/internal/page"
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

// benchCommandLine measures a command that is no kernel.
func benchCommandLine(ctx context.Context, env console.Environment, o benchOptions, arguments []string,
	limited bool) error {
	switch {
	case len(env.Command) == 0:
		return console.Usagef("bench -- COMMAND…: there is no command behind --")
	case len(arguments) > 0:
		return console.Usagef("either a kernel or a command behind --, not both: %s", strings.Join(arguments, " "))
	}
	allowed := longRun
	if limited {
		allowed = o.RunTimeout
	}
	ctx, done := console.Stoppable(ctx, env)
	defer done()
	line := command.Line{Arguments: env.Command, Environment: os.Environ(), Allowed: allowed}
	m, fault, err := o.repeat.Run(ctx, line)
	switch {
	case ctx.Err() != nil:
		return console.Answer(console.ExitInterrupted)
	case err != nil:
		return err
	case fault != nil:
		fmt.Fprintf(env.Stdout, "%s: %s\n", escape.Line(m.Command), escape.Line(fault.Error()))
		return console.Answer(console.ExitNo)
	}
	report := commandReport{[]*command.Measurement{m}}
	if o.results != "" {
		if err := page.WriteFile(o.results, report.JSON); err != nil {
			return fmt.Errorf("the results: %w", err)
		}
	}
	if o.JSON {
		return report.JSON(env.Stdout)
	}
	fmt.Fprint(env.Stdout, m.Text())
	if o.results != "" {
		fmt.Fprintf(env.Stdout, "wrote %s\n", o.results)
	}
	return nil
}
