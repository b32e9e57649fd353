package studies

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pawl/internal/collect"
)

// A row carries a digest of its own content, which is made when the row is written and compared whenever it is read:
// SQLite sees a page that makes no sense, but not a bit that turned one time into another. A row that is gone has no
// digest that could be wrong: that is what a study's tally is for.
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
	parts := make([]string, 0, len(row))
	for _, c := range row {
		if c.name == digestColumn || isEmpty(c.value) {
			continue
		}
		// The type and the length keep two different rows from one text.
		text := ""
		switch v := c.value.(type) {
		case string:
			text = v
		case []byte:
			text = string(v)
		case int64:
			text = strconv.FormatInt(v, 10)
		default:
			text = fmt.Sprint(v)
		}
		parts = append(parts, c.name+" "+typeName(c.value)+" "+strconv.Itoa(len(text))+" "+text+"\n")
	}
	slices.Sort(parts)
	digest := sha256.Sum256([]byte(strings.Join(parts, "")))
	return hex.EncodeToString(digest[:16])
}

func typeName(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case int64:
		return "int64"
	}
	return fmt.Sprintf("%T", value)
}

// sealed are the columns of a whole row as they are stored, with their digest.
func (s session) sealed(row columns) (columns, error) {
	values, err := s.values(row.values())
	if err != nil {
		return nil, err
	}
	stored := make(columns, len(row), len(row)+1)
	for i, value := range values {
		stored[i] = column{row[i].name, value}
	}
	return append(stored, column{digestColumn, rowDigest(stored)}), nil
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

func tableCalled(name string) digestedTable {
	found, _ := collect.First(digestedTables, func(t digestedTable) bool { return t.name == name })
	return found
}

// describe says which row of its table one is.
func (t digestedTable) describe(row columns) string {
	var values []any
	for _, name := range t.key[1:] {
		values = append(values, row.get(name))
	}
	return fmt.Sprintf(t.called, values...)
}

// rowOf is the row of a table with the values of its key.
func rowOf(table string, values ...any) rowKey {
	row := rowKey{table: table}
	for i, name := range tableCalled(table).key {
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

// read returns the row as it is stored, nil where there is none.
func (k rowKey) read(ctx context.Context, tx session) (row columns, err error) {
	err = eachRow(ctx, tx, func(found columns) error { row = found; return nil },
		"SELECT * FROM "+k.table+k.where(), k.key.values()...)
	return row, err
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
