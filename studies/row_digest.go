package studies

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
)

// A row carries a digest of its own content, which is made when the row is written
// and compared when the database is opened: SQLite sees a page that makes no sense,
// but not a bit that turned one time into another.
//
// The digest is over names and values, sorted by name, without those that are
// empty. So it depends on no order of columns, and a column that a later version
// adds with an empty default leaves the digests of older rows as they were.

const digestColumn = "digest"

// digestedTable is a table whose rows carry a digest.
type digestedTable struct {
	name string
	// key are the columns that identify a row, its study's first.
	key []string
	// called is what a row is called, a format of the other columns of its key.
	called string
}

var digestedTables = []digestedTable{
	{"studies", []string{"id"}, "its head"},
	{"trials", []string{"study", "number"}, "trial %[1]v"},
	{"rounds", []string{"study", "phase", "number", "point"}, "%[1]v round %[2]v"},
	{"gatings", []string{"study", "number"}, "the gate's verdict %[1]v"},
	{"across", []string{"study", "workload", "number", "point"}, "round %[2]v on workload %[1]v"},
	{"profiles", []string{"study", "number"}, "profile %[1]v"},
}

func rowDigest(row columns) string {
	var parts []string
	for _, c := range row {
		if c.name == digestColumn || isEmpty(c.value) {
			continue
		}
		// The type and the length keep two different rows from one text.
		text := fmt.Sprint(c.value)
		if raw, ok := c.value.([]byte); ok {
			text = string(raw)
		}
		parts = append(parts, fmt.Sprintf("%s %T %d %s\n", c.name, c.value, len(text), text))
	}
	slices.Sort(parts)
	return fmt.Sprintf("%.16x", sha256.Sum256([]byte(strings.Join(parts, ""))))
}

// isEmpty reports whether a value is what columns have by default.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case int64:
		return v == 0
	case string:
		return v == "" || v == "[]" || v == "{}"
	}
	return false
}

type rowKey struct {
	table string
	// key are the columns that identify the row.
	key columns
}

// rowOf is the row of a table with the values of its key.
func rowOf(table string, values ...any) rowKey {
	row := rowKey{table: table}
	found, _ := collect.First(digestedTables, func(t digestedTable) bool { return t.name == table })
	for i, name := range found.key {
		row.key = append(row.key, column{name, values[i]})
	}
	return row
}

func (k rowKey) where() string { return " WHERE " + strings.Join(k.key.names(), " = ? AND ") + " = ?" }

func eachRow(ctx context.Context, s session, do func(row columns) error, query string, arguments ...any) error {
	return s.query(ctx, func(rows *sql.Rows) error {
		names, err := rows.Columns()
		if err != nil {
			return err
		}
		row, targets := make(columns, len(names)), make([]any, len(names))
		for i, name := range names {
			row[i].name, targets[i] = name, &row[i].value
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		return do(row)
	}, query, arguments...)
}

// setDigest gives a row that was just written its digest, and returns it.
func (k rowKey) setDigest(ctx context.Context, tx session) (digest string, err error) {
	err = eachRow(ctx, tx, func(row columns) error {
		digest = rowDigest(row)
		return nil
	}, "SELECT * FROM "+k.table+k.where(), k.key.values()...)
	if err != nil {
		return "", err
	}
	_, err = tx.exec(ctx, "UPDATE "+k.table+" SET "+digestColumn+" = ?"+k.where(),
		append([]any{digest}, k.key.values()...)...)
	return digest, err
}

// has reports whether the row is there with a digest; an empty one was never made.
func (k rowKey) has(ctx context.Context, tx session, digest string) (bool, error) {
	if digest == "" {
		return false, nil
	}
	var found string
	err := tx.queryRow(ctx, []any{&found}, "SELECT "+digestColumn+" FROM "+k.table+k.where(), k.key.values()...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return found == digest, err
}

// unsound describes, by study, the rows of tables that are not what was written: those of one
// study, or of all where it is 0.
func (s *Store) unsound(ctx context.Context, tables []digestedTable, study int64) (map[int64][]string, error) {
	found := map[int64][]string{}
	for _, table := range tables {
		err := eachRow(ctx, s.db, func(row columns) error {
			var values []any // of the digest and the key
			for _, name := range append([]string{digestColumn}, table.key...) {
				if row.get(name) == nil {
					return s.foreignSchema(fmt.Sprintf("table %s has no column %s", table.name, name))
				}
				values = append(values, row.get(name))
			}
			if rowDigest(row) != row.get(digestColumn) {
				study, _ := row.get(table.key[0]).(int64) // 0 if it makes no sense
				found[study] = append(found[study], fmt.Sprintf(table.called, values[2:]...))
			}
			return nil
		}, "SELECT * FROM "+table.name+" WHERE ?1 = 0 OR "+table.key[0]+" = ?1", study)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", s.path, err)
		}
	}
	return found, nil
}
