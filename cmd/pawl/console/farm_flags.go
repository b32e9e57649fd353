package console

import (
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/studies/farm"
)

// FarmFlag is the flag that tells farms of one database apart.
func FarmFlag(name *string) cli.Flag {
	return TextOr("farm", name, farm.DefaultName, "the `NAME` of the farm, if the database has several")
}

// FarmDatabaseFlag is the flag for the database of a farm, which is never a file.
func FarmDatabaseFlag(url *string) cli.Flag {
	return TextOr("db", url, DatabaseVariable,
		"the `URL` of the farm's database, such as postgres://USER@HOST/DATABASE")
}

// FarmIn returns the farm of a name in a database.
func FarmIn(database, name string) (farm.Options, error) {
	if !strings.HasPrefix(database, "postgres://") && !strings.HasPrefix(database, "postgresql://") {
		return farm.Options{}, Usagef("--db URL, or %s, says which PostgreSQL database the farm is in: "+
			"postgres://USER@HOST/DATABASE", DatabaseVariable)
	}
	return farm.Options{URL: database, Name: name, Version: Version()}, nil
}
