package studycmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/cmd/pawl/pages"
	"pawl/studies"
)

type serveOptions struct {
	console.Common
	address string
}

// tokenVariable is where a token is taken from: a flag would show it to everybody who lists
// processes.
const tokenVariable = "PAWL_TOKEN"

func ServeCommand(env console.Environment) *cli.Command {
	o := serveOptions{Common: console.In(env)}
	return &cli.Command{
		Name:  "serve",
		Usage: "show studies, trials and the gate's history on a local web page",
		Description: console.Details(
			"Serves pages over the study database and the gate's files until Ctrl-C: all kernels, a study (live while\n"+
				"another process runs it), its trials, studies side by side, the gate. The pages change\n"+
				"nothing and load nothing from elsewhere. An address other than loopback requires a token: the value of\n"+
				"the variable "+tokenVariable+", or a generated one, which is printed.",
			"pawl serve --addr 127.0.0.1:7295",
			"0 stopped by Ctrl-C", "3 internal or environment error", "64 usage"),
		Flags: append(o.Flags("out", "db"), console.BaselineFlag(&o.Baseline),
			console.Text("addr", &o.address, "127.0.0.1:7295", "the `ADDRESS` to listen at; port 0 takes a free one")),
		Action: console.Alone(o.runServe),
	}
}

func (o *serveOptions) runServe(ctx context.Context) error {
	database := o.Database()
	if _, err := studies.OnServer(database); err != nil {
		return console.Usage(err)
	}
	server, err := pages.Listen(pages.Options{
		Database: database, Place: o.Place, Address: o.address,
		Token: o.Getenv(tokenVariable),
	})
	if err != nil {
		return err
	}
	ctx, done := o.Stoppable(ctx)
	defer done()
	fmt.Fprintf(o.Stdout, "%s\n", server.URL())
	fmt.Fprintln(o.Stderr, "serving "+studies.Name(database)+" until Ctrl-C; nothing can be changed from the pages")
	return server.Serve(ctx)
}
