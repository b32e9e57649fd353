package gatecmd

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"pawl/cmd/pawl/console"
	"pawl/gate"
	"pawl/gate/ci"
	"pawl/gate/program"
	"pawl/gate/ratchet"
	"pawl/gate/results"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective/devices"
)

// programOptions are the flags of pawl gate -- COMMAND.
type programOptions struct {
	before, build, rows, preset string // empty for none
	rounds                      int
	choice                      results.Choice
}

// The files of the report, beside the baseline.
const (
	programJSON     = "program_report.json"
	programMarkdown = "program_report.md"
)

// runProgram compares the rows of the program behind --.
func (o *options) runProgram(ctx context.Context, arguments []string) error {
	switch {
	case len(o.Command) == 0:
		return console.Usagef("gate -- COMMAND…: there is no command behind --")
	case len(arguments) > 0:
		return console.Usagef("either kernels or a command behind --, not both: %s", strings.Join(arguments, " "))
	case o.Study > 0 || o.On != "" || o.shard > 0 || o.join != "":
		return console.Usagef("--study, --on, --shard and --join are for kernels, not for a command behind --")
	}
	limits, err := preset(o.program.preset)
	if err != nil {
		return err
	}
	compared := program.Options{
		Name: escape.Shell(o.Command...), Choice: o.program.choice, Rounds: o.program.rounds, Within: o.budget,
		Seed: o.Order(), Policy: limits, Observe: o.countProgramRounds,
		Candidate: program.Side{Line: o.Command},
	}
	if o.program.build != "" {
		compared.Candidate.Build = program.Shell(o.program.build)
	}
	if o.program.rows != "" {
		if compared.Rows, err = regexp.Compile(o.program.rows); err != nil {
			return console.Usagef("--rows is no regular expression: %v", err)
		}
	}
	ctx, done := o.Stoppable(ctx)
	defer done()
	r, err := o.compareProgram(ctx, compared)
	switch {
	case ctx.Err() != nil:
		return console.Answer(console.ExitInterrupted)
	case err != nil:
		return err
	}
	written, err := page.WriteFiles(filepath.Dir(o.Baseline),
		page.File{Name: programMarkdown, Render: r.Markdown}, page.File{Name: programJSON, Render: r.JSON})
	if err != nil {
		return err
	}
	var summary strings.Builder
	if err := r.Markdown(&summary); err != nil {
		return err
	}
	if err := ci.Summarise(o.Getenv("GITHUB_STEP_SUMMARY"), summary.String()); err != nil {
		return err
	}
	if err := o.Print(r.JSON, func(w io.Writer) {
		r.Text(w)
		for _, path := range written {
			fmt.Fprintf(w, "wrote %s\n", path)
		}
	}); err != nil {
		return err
	}
	return console.Answered(programCode(r, o.failUndecided || limits.Strict))
}

// compareProgram compares with another command, or with the same one in the base's tree.
func (o *options) compareProgram(ctx context.Context, compared program.Options) (*program.Report, error) {
	if o.program.before != "" {
		compared.Baseline = program.Side{Line: program.Shell(o.program.before)}
		return program.Compare(ctx, compared)
	}
	base, err := o.MergeBase(ctx)
	if err != nil {
		return nil, err
	}
	if base == "" {
		return nil, devices.Argumentf("--base COMMIT says which commit's tree to compare with, and --before 'COMMAND' " +
			"which other command")
	}
	tree, err := ratchet.OpenTree(ctx, ".", base)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	compared.Baseline = compared.Candidate
	compared.Baseline.Folder = tree.Here
	return program.Compare(ctx, compared)
}

// programCode is the exit code for a program, as for any gate.
func programCode(r *program.Report, strict bool) int {
	undecided := len(r.With(gate.New, gate.Inconclusive)) > 0 || r.Verdict.Undecided()
	switch {
	case r.Verdict.Fails(), undecided && strict && r.Verdict != gate.New:
		return console.ExitNo
	case undecided:
		return console.ExitNothing
	}
	return console.ExitOK
}

// countProgramRounds says how far a comparison is.
func (o *options) countProgramRounds(round, of int) {
	if round%5 == 0 {
		fmt.Fprintf(o.Stderr, "%d of %d rounds\n", round, of)
	}
}
