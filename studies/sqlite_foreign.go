package studies

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"

	"pawl/internal/page"
)

// somebodyElses says that a database is another program's: to write to it would break that one.
func somebodyElses(name string, tables []string, advice string) error {
	const most = 3
	return fmt.Errorf("%s is somebody else's: it has %s (%s), and nothing of pawl's; %s",
		name, page.Count(len(tables), "table"), strings.Join(tables[:min(most, len(tables))], ", "), advice)
}

// foreign refuses a file that has tables, but not those that every version of pawl has made.
func foreign(ctx context.Context, db *sql.DB) error {
	tables, err := session{db, &file{}}.tables(ctx,
		`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`)
	if len(tables) > 0 && !(slices.Contains(tables, "studies") && slices.Contains(tables, "trials")) {
		return somebodyElses("the file", tables, "name another file")
	}
	return err
}

// regular refuses what is there and is no file: SQLite would call it damaged, or write beside it.
func regular(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() {
		return nil // what cannot be looked at is explained by who opens it
	}
	kind := "a device, a pipe or a socket"
	if info.IsDir() {
		kind = "a folder"
	}
	return fmt.Errorf("the study database %s is %s: name a file", path, kind)
}
