package main

import (
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/check"
	"pawl/space"
)

func fuzzCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:      "fuzz",
		Usage:     "check results against the reference, on shapes and inputs that break kernels",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: details(
			"Checks one point, or the finalists of the latest study, on the full tier: every shape of the\n"+
				"manifest's matrix, generated shapes with tails, and families of inputs, between guard pages and\n"+
				"on poisoned outputs. A failure is shrunk to the smallest shape and printed as a command that\n"+
				"repeats it. --mutants checks the checks: it runs them on wrong kernels.",
			"pawl fuzz attention --at BLOCK_M=96,VECTOR=8 --cases 1000",
			"0 all results right", "1 wrong results", "2 nothing to test", "3 the machinery or the oracle failed", "64 usage"),
		Flags: []cli.Flag{
			atFlag, workloadFlag, backendFlag, compilerFlag, cacheFlag, outFlag, jsonFlag, timeoutFlag, compileFlag,
			&cli.Uint64Flag{Name: "seed", DefaultText: "a fresh one", Usage: "the `NUMBER` that fixes shapes and inputs"},
			&cli.BoolFlag{Name: "all-finalists", DisableDefaultText: true, Usage: "check the finalists of the kernel's latest study in --out"},
			&cli.IntFlag{Name: "cases", DefaultText: "none", Usage: "a `NUMBER` of random cases after the full tier"},
			&cli.DurationFlag{Name: "time", DefaultText: "no limit", Usage: "go on with random cases for this `TIME`"},
			&cli.StringFlag{Name: "shape", Usage: "check one case only, at `SIZES` such as B=1,S=33"},
			&cli.StringFlag{Name: "family", Usage: "the `FAMILY` of that case's inputs, such as signs"},
			&cli.StringFlag{Name: "layout", Usage: "the `LAYOUT` of that case's buffers: guarded, aligned or misaligned"},
			&cli.BoolFlag{Name: "sanitizer", DisableDefaultText: true, Usage: "run under sanitizers: the compiler's for memory and undefined behaviour, or compute-sanitizer's tools on CUDA"},
			&cli.StringFlag{Name: "picture", Usage: "draw the errors of a failing case into this `FOLDER`"},
			&cli.BoolFlag{Name: "mutants", DisableDefaultText: true, Usage: "check that the checks catch wrong kernels"},
		},
		Action: func(c *cli.Context) error { return fuzz(c, env) },
	}
}

// fuzzReport is what the command prints.
type fuzzReport struct {
	Kernel   string `json:"kernel"`
	Workload string `json:"workload"`
	Seed     uint64 `json:"seed"`
	// Points holds each point once, or once for each sanitizer.
	Points []fuzzPoint `json:"points"`
}

// fuzzPoint is the result of one point.
type fuzzPoint struct {
	Point space.Point `json:"point"`
	// Sanitizer names what the kernel ran under, if anything.
	Sanitizer string `json:"sanitizer,omitempty"`

	Cases   int                `json:"cases"`
	Failure *objective.Failure `json:"failure,omitempty"`
	// Found is the case that failed first, Case the smallest one that fails in
	// the same way, and Command repeats that.
	Found   *check.Case `json:"found,omitempty"`
	Case    *check.Case `json:"case,omitempty"`
	Command string      `json:"command,omitempty"`
	// Once says that the case did not fail again when it was repeated alone.
	Once bool `json:"once,omitempty"`
	// Note is what was seen that is no failure.
	Note     string   `json:"note,omitempty"`
	Pictures []string `json:"pictures,omitempty"`
}

func fuzz(c *cli.Context, env environment) error {
	if err := checkFuzzFlags(c); err != nil {
		return err
	}
	if !c.IsSet("seed") {
		// Nine digits are fresh enough and can be typed.
		if err := c.Set("seed", strconv.FormatUint(rand.Uint64N(1e9), 10)); err != nil {
			return err
		}
	}
	if c.Bool("mutants") {
		return fuzzMutants(c, env)
	}
	t, points, err := fuzzTargets(c, env)
	if err != nil {
		return err
	}
	benches, err := fuzzBenches(c, env, t)
	if err != nil {
		return err
	}
	defer closeAll(benches)
	result := fuzzReport{Kernel: t.kernel.Name, Workload: t.workload.Name, Seed: c.Uint64("seed")}
	for _, point := range points {
		for _, b := range benches {
			checked, err := b.fuzzPoint(c, env, point)
			if err != nil {
				return err
			}
			result.Points = append(result.Points, checked)
		}
	}
	return result.conclude(c, env)
}

func checkFuzzFlags(c *cli.Context) error {
	switch {
	case c.Int("cases") < 0 || c.Duration("time") < 0:
		return usagef("--cases and --time must not be negative")
	case c.IsSet("at") && c.Bool("all-finalists"):
		return usagef("--at names one point, --all-finalists takes those of a study: use one of them")
	case !c.IsSet("shape") && (c.IsSet("family") || c.IsSet("layout")):
		return usagef("--family and --layout describe the case of a --shape")
	case c.IsSet("shape") && (c.IsSet("cases") || c.IsSet("time")):
		return usagef("--shape checks one case; --cases and --time go with the full tier")
	}
	return nil
}

// fuzzPoint checks one point.
func (b *fuzzBench) fuzzPoint(c *cli.Context, env environment, point space.Point) (fuzzPoint, error) {
	result := fuzzPoint{Point: point, Sanitizer: b.sanitizer}
	prepared, err := b.evaluator.Prepare(c.Context, point)
	if err != nil {
		return result, err
	}
	cases, total, err := b.fuzzCases(c, point)
	if err != nil {
		return result, err
	}
	line := newProgressLine(env.stderr)
	defer line.clear()
	done := 0
	finding, err := b.evaluator.Try(c.Context, prepared, cases, func(next check.Case) {
		done++
		line.show("%scase %d%s: %s", b.prefix(), done, total, next)
	})
	if err != nil {
		return result, err
	}
	result.Cases, result.Failure, result.Note = finding.Checked, finding.Failure, b.evaluator.Note(point)
	if finding.Failure == nil || finding.Failure.Stage != objective.Fuzz {
		return result, nil
	}
	smallest, again := finding, true
	if !b.slow && !c.IsSet("shape") {
		line.show("looking for a smaller case that fails")
		if smallest, again, err = b.evaluator.Shrink(c.Context, prepared, finding); err != nil {
			return result, err
		}
	}
	result.Failure, result.Found, result.Case, result.Once = smallest.Failure, &finding.Case, &smallest.Case, !again
	result.Command = fmt.Sprintf("%s %s", escape.Shell("pawl", "fuzz", b.kernel.Origin, "--workload", b.workload.Name, "--at", point.String()), smallest.Case)
	if c.Bool("sanitizer") {
		result.Command += " --sanitizer"
	}
	if c.IsSet("picture") { // of the case as it was found: a small one shows little
		result.Pictures, err = b.drawPictures(c, prepared, finding.Case)
	}
	return result, err
}

// fuzzCases returns the cases of a point and how many there are, as text.
func (b *fuzzBench) fuzzCases(c *cli.Context, point space.Point) (iter.Seq[check.Case], string, error) {
	if c.IsSet("shape") {
		single, err := b.singleCase(c)
		return func(yield func(check.Case) bool) { yield(single) }, "", err
	}
	full := b.evaluator.FullCases(point)
	if b.slow {
		// The workload comes last. It is large, and what a tool sees there it
		// sees on small shapes too.
		full = b.evaluator.QuickCases(point)
		full = full[:max(1, len(full)-1)]
	}
	random := c.Int("cases")
	deadline := time.Now().Add(c.Duration("time"))
	more := func(done int) bool {
		if c.IsSet("time") {
			return time.Now().Before(deadline) && (random == 0 || done < random)
		}
		return done < random
	}
	total := fmt.Sprintf(" of %d", len(full)+random)
	if c.IsSet("time") {
		total = ""
	}
	return func(yield func(check.Case) bool) {
		for _, next := range full {
			if !yield(next) {
				return
			}
		}
		rng := rand.New(rand.NewPCG(c.Uint64("seed"), 0))
		for done := 0; more(done); done++ {
			if !yield(check.Random(b.kernel, b.workload, point, rng)) {
				return
			}
		}
	}, total, nil
}

// drawPictures writes a picture per output and returns their files.
func (b *bench) drawPictures(c *cli.Context, prepared objective.Prepared, failing check.Case) ([]string, error) {
	dir := c.String("picture")
	var paths []string
	err := b.evaluator.Picture(c.Context, prepared, failing, func(argument string, draw func(io.Writer) error) error {
		path := filepath.Join(dir, fmt.Sprintf("%s-%s-%.8s-%d.png", b.kernel.Name, argument, cache.Digest([]byte(prepared.Point.String())), failing.Seed))
		if err := page.WriteFile(path, draw); err != nil {
			return fmt.Errorf("a picture of the errors: %w", err)
		}
		paths = append(paths, path)
		return nil
	})
	return paths, err
}

// conclude prints the report and says how it went.
func (r *fuzzReport) conclude(c *cli.Context, env environment) error {
	if c.Bool("json") {
		if err := page.JSON(env.stdout, r); err != nil {
			return err
		}
	} else {
		for _, p := range r.Points {
			p.print(env.stdout, r)
		}
	}
	infeasible := 0
	for _, p := range r.Points {
		switch {
		case p.Failure == nil:
		case p.Failure.Stage == objective.Preflight:
			infeasible++
		default:
			return answer(exitNo)
		}
	}
	if infeasible == len(r.Points) {
		return answer(exitNothing)
	}
	return nil
}

func (p *fuzzPoint) print(w io.Writer, r *fuzzReport) {
	with := ""
	if p.Sanitizer != "" {
		with = " with " + p.Sanitizer
	}
	if p.Failure == nil {
		fmt.Fprintf(w, "%s at %s: all %d cases right%s, seed %d\n", r.Kernel, p.Point, p.Cases, with, r.Seed)
	} else {
		fmt.Fprintf(w, "%s at %s%s: %s\n", r.Kernel, p.Point, with, escape.Line(p.Failure.String()))
	}
	if p.Once {
		fmt.Fprintln(w, "It did not fail again when the case was repeated alone: a race, or something that an earlier case left behind.")
	}
	if p.Command != "" {
		fmt.Fprintf(w, "found at case %d, %s; to repeat the smallest that fails:\n  %s\n", p.Cases, p.Found.Dims, p.Command)
	}
	if p.Note != "" {
		fmt.Fprintf(w, "Note: %s\n", p.Note)
	}
	for _, path := range p.Pictures {
		fmt.Fprintf(w, "wrote %s: white is exact, blue within the tolerance, red wrong, black no number\n", path)
	}
}

// progressLine is a line on a terminal that changes in place, and nothing
// anywhere else.
type progressLine struct {
	w     io.Writer
	shown bool
}

func newProgressLine(w io.Writer) *progressLine {
	if f := terminal(w); f != nil {
		return &progressLine{w: f}
	}
	return &progressLine{w: io.Discard}
}

func (l *progressLine) show(format string, arguments ...any) {
	l.shown = true
	fmt.Fprintf(l.w, "\r\x1b[K"+format, arguments...)
}

func (l *progressLine) clear() {
	if l.shown {
		fmt.Fprint(l.w, "\r\x1b[K")
	}
}
