package console

import (
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/studies/farm"
)

// FarmFlag is the flag that tells farms of one database apart.
func FarmFlag(name *string) cli.Flag {
	return &cli.StringFlag{
		Name:        "farm",
		Destination: name,
		DefaultText: farm.DefaultName,
		Usage:       "the `NAME` of the farm, where a database has several",
	}
}

// FarmDatabaseFlag is the flag for the database of a farm, which is never a file.
func FarmDatabaseFlag(url *string) cli.Flag {
	return &cli.StringFlag{
		Name:        "db",
		Destination: url,
		DefaultText: DatabaseVariable,
		Usage:       "the `URL` of the farm's database, such as postgres://USER@HOST/DATABASE",
	}
}

// PriceFlag is the flag for what devices cost.
func PriceFlag(prices *cli.StringSlice) cli.Flag {
	return &cli.StringSliceFlag{
		Name:        "price",
		Destination: prices,
		Usage: "what an hour of a farm's device costs, as `LABEL=NUMBER`: a part of its name, or compiling; may be " +
			"given again",
	}
}

// Prices reads the prices of flags.
func Prices(texts []string) (prices []farm.Price, err error) {
	for _, text := range texts {
		price, err := farm.ParsePrice(text)
		if err != nil {
			return nil, Usage(err)
		}
		prices = append(prices, price)
	}
	return prices, nil
}

// FarmIn returns the farm of a name in a database.
func FarmIn(database, name string) (farm.Options, error) {
	if !strings.HasPrefix(database, "postgres://") && !strings.HasPrefix(database, "postgresql://") {
		return farm.Options{},
			Usagef("--db URL, or %s, says which PostgreSQL database the farm is in: postgres://USER@HOST/DATABASE",
				DatabaseVariable)
	}
	return farm.Options{URL: database, Name: name, Version: Version()}, nil
}
