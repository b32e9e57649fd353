package studycmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/studies"
	"pawl/studies/lessons"
	"pawl/studies/tune"
)

func lessonsCommand(env console.Environment) *cli.Command {
	var o console.Common
	return &cli.Command{
		Name: "lessons", Usage: "say what all studies of a kernel have taught", ArgsUsage: "[KERNEL]",
		Description: console.Details(
			"For each device and workload: which parameters mattered and in which direction, what failed and with\n"+
				"which values, which advice was followed and what it brought, and what the next study should try. The\n"+
				"evidence are trials of one study that differ in one parameter alone.",
			"pawl studies lessons attention", "0 done", "2 no studies of the kernel", "3 internal or environment error",
			"64 usage"),
		Flags: o.Flags("out", "db", "json"),
		Action: console.Action(func(ctx context.Context,
			arguments []string) error {
			return showLessons(ctx, env, o, arguments)
		}),
	}
}

func showLessons(ctx context.Context, env console.Environment, o console.Common, arguments []string) error {
	kernel, err := console.KernelName(arguments)
	if err != nil {
		return err
	}
	store, err := console.OpenStudies(ctx, env, o)
	if err != nil {
		return err
	}
	defer store.Close()
	all, err := lessons.Read(ctx, store, kernel)
	switch {
	case err != nil:
		return err
	case len(all) == 0:
		return noLessons(ctx, store, kernel)
	case o.JSON:
		return page.JSON(env.Stdout, "pawl studies lessons", 1, page.List("workloads", all))
	}
	for i, l := range all {
		if i > 0 {
			fmt.Fprintln(env.Stdout)
		}
		printLesson(env.Stdout, l)
	}
	return nil
}

// noLessons says why nothing is known about a kernel: studies that cannot be read are there, too.
func noLessons(ctx context.Context, store *studies.Store, kernel string) error {
	list, err := store.List(ctx)
	if err != nil {
		return err
	}
	var others []string
	for _, s := range list {
		name := s.Kernel
		if s.Damaged != "" {
			name = fmt.Sprintf("study %d, which is damaged", s.ID)
		}
		if !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return console.Nothingf("no studies in %s", store.Path())
	}
	return console.Nothingf("no studies of kernel %s in %s; there are those of %s", kernel, store.Path(),
		strings.Join(others, ", "))
}

// mostMoves is how many moves a terminal is shown; JSON has all of them.
const mostMoves = 10

func printLesson(w io.Writer, l lessons.Lesson) {
	line := func(format string, arguments ...any) { fmt.Fprintln(w, escape.Line(fmt.Sprintf(format, arguments...))) }
	device := l.Device
	if l.Backend == tune.Replay {
		device += " (replayed)"
	}
	line("%s, workload %s, on %s: %s in %s", l.Kernel, l.Workload, device, page.Count(l.Trials, "trial"),
		page.Count(len(l.Studies), "study", "studies"))
	switch {
	case l.Milliseconds == 0:
		line("  no trial has passed")
	case l.Confirmed > 0:
		line("  fastest finalist: %s at %s, in study %d", page.Milliseconds(l.Milliseconds), l.Best, l.Confirmed)
	default:
		line("  fastest trial, never measured again: %s at %s", page.Milliseconds(l.Milliseconds), l.Best)
	}
	section := func(title string, lines []string) {
		for i, text := range lines {
			if i == 0 {
				line("  %s:", title)
			}
			line("    %s", text)
		}
	}
	var moves, failed, advice []string
	for _, m := range l.Moves[:min(len(l.Moves), mostMoves)] {
		moves = append(moves, m.Text())
	}
	for _, f := range l.Failures {
		text := fmt.Sprintf("%d × %s", f.Count, f.Reason)
		if f.With != "" {
			text += fmt.Sprintf("; %d of %d trials with %s", f.Failed, f.Tried, f.With)
		}
		failed = append(failed, text)
	}
	for _, f := range l.Followed {
		advice = append(advice, f.Text())
	}
	section("what mattered", moves)
	if len(l.Moves) == 0 {
		line("  what mattered: not known: too few trials differ in one parameter alone, or they do not agree")
	}
	section("what failed", failed)
	section("what advice brought", advice)
	section("what to try next", l.Next)
}
