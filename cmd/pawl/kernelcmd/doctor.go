package kernelcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/page"
	"pawl/objective/devices"
	"pawl/studies"
)

type doctorOptions struct{ console.Common }

func DoctorCommand(env console.Environment) *cli.Command {
	o := doctorOptions{console.In(env)}
	return &cli.Command{
		Name:  "doctor",
		Usage: "say what this machine has, what is missing, and what to do",
		Description: console.Details("Looks for everything that pawl can use. Only a C compiler and a writable cache are "+
			"needed to tune on this machine.",
			"pawl doctor", "0 pawl can tune here", "3 something needed is missing", "64 usage"),
		Flags:  o.Flags("compiler", "out", "db", "cache", "json"),
		Action: console.Action(o.doctor),
	}
}

func (o *doctorOptions) doctor(ctx context.Context, arguments []string) error {
	if len(arguments) > 0 {
		return console.Usagef("doctor takes no arguments, got %q; pawl check KERNEL tries a kernel", arguments)
	}
	findings, usable, gpu := devices.Probe(ctx, o.Tools())
	if finding, there := o.probeDatabase(ctx); there {
		findings, usable = append(findings, finding), usable && finding.Found != ""
	}
	if err := o.Show("pawl doctor", 1, page.List("findings", findings), func(w io.Writer) {
		o.print(w, findings, usable, gpu)
	}); err != nil {
		return err
	}
	if !usable {
		return console.Answer(console.ExitMachinery)
	}
	return nil
}

// probeDatabase says whether the study database can be used, opening it as every command does and then reading all of
// it. Looking makes none; that there is none is worth a word where one was named.
func (o *doctorOptions) probeDatabase(ctx context.Context) (finding devices.Finding, there bool) {
	place := o.Database()
	finding = devices.Finding{Name: "study database", Needed: true}
	store, err := studies.OpenExisting(ctx, place)
	if errors.Is(err, fs.ErrNotExist) {
		finding.Found = studies.Name(place) + ": no studies yet; " + o.Pawl("tune") + " makes one"
		return finding, o.DB != "" || o.Getenv(console.DatabaseVariable) != ""
	}
	var all []studies.Study
	var damage []error
	if err == nil {
		defer store.Close()
		for _, notice := range store.Notices {
			o.Notice(notice)
		}
		if damage, err = store.Verify(ctx); err == nil {
			all, err = store.List(ctx)
		}
	}
	switch {
	case err != nil:
		finding.Advice = err.Error()
	case len(damage) > 0:
		finding.Advice = errors.Join(damage...).Error()
	default:
		finding.Found = fmt.Sprintf("%s: %s", store.Path(), page.Count(len(all), "study", "studies"))
	}
	return finding, true
}

func (o *doctorOptions) print(w io.Writer, findings []devices.Finding, usable, gpu bool) {
	for _, f := range findings {
		switch {
		case f.Found != "":
			fmt.Fprintf(w, "ok       %-18s %s\n", f.Name, f.Found)
		case f.Needed:
			fmt.Fprintf(w, "MISSING  %-18s %s\n", f.Name, f.Advice)
		default:
			fmt.Fprintf(w, "absent   %-18s %s\n", f.Name, f.Advice)
		}
	}
	switch {
	case usable && gpu:
		fmt.Fprintln(w, "\npawl can tune on this machine's GPU and on its processor: try", o.Pawl("tune"))
	case usable:
		fmt.Fprintln(w, "\npawl can tune on this machine with the host backend: try", o.Pawl("tune"))
	default:
		fmt.Fprintln(w, "\npawl cannot tune here until what is MISSING is there")
	}
}
