package console

import (
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/studies/farm"
)

// FarmFlag is the flag that tells farms of one database apart.
func FarmFlag(name *string) cli.Flag {
	return &cli.StringFlag{Name: "farm", Destination: name, DefaultText: farm.DefaultName, Usage: "the `NAME` of the farm, where a database has several"}
}

// FarmIn returns the farm of a name in a database.
func FarmIn(database, name string) (farm.Options, error) {
	if !strings.HasPrefix(database, "postgres://") && !strings.HasPrefix(database, "postgresql://") {
		return farm.Options{}, Usagef("--db URL, or %s, says which PostgreSQL database the farm is in: postgres://USER@HOST/DATABASE", DatabaseVariable)
	}
	return farm.Options{URL: database, Name: name, Version: Version()}, nil
}
