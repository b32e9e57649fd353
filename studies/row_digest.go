package studies

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A row carries a digest of its own content, which is made when the row is written
// and compared when the database is opened: SQLite sees a page that makes no sense,
// but not a bit that turned one time into another.
//
// The digest is over names and values, sorted by name, without those that are
// empty. So it depends on no order of columns, and a column that a later version
// adds with an empty default leaves the digests of older rows as they were.

const digestColumn = "digest"

var digestedTables = []string{"studies", "trials", "rounds", "gatings", "across", "profiles"}

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

func studyRow(id int64) rowKey { return rowKey{"studies", columns{{"id", id}}} }

func trialRow(study int64, number int) rowKey {
	return rowKey{"trials", columns{{"study", study}, {"number", number}}}
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

var keyColumns = map[string][]string{
	"studies": {"id"}, "trials": {"study", "number"}, "rounds": {"study", "phase", "number", "point"},
	"gatings": {"study", "number"}, "profiles": {"study", "number"},
	"across": {"study", "workload", "number", "point"},
}

// unsound describes, by study, the rows of tables that are not what was written: those of one
// study, or of all where it is 0.
func (s *Store) unsound(ctx context.Context, tables []string, study int64) (map[int64][]string, error) {
	found := map[int64][]string{}
	for _, table := range tables {
		of := studyColumn(table)
		err := eachRow(ctx, s.db, func(row columns) error {
			for _, name := range append([]string{digestColumn}, keyColumns[table]...) {
				if row.get(name) == nil {
					return s.foreignSchema(fmt.Sprintf("table %s has no column %s", table, name))
				}
			}
			if rowDigest(row) != row.get(digestColumn) {
				study, what := describeRow(table, row)
				found[study] = append(found[study], what)
			}
			return nil
		}, "SELECT * FROM "+table+" WHERE ?1 = 0 OR "+of+" = ?1", study)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", s.path, err)
		}
	}
	return found, nil
}

// describeRow returns the study that a row says it belongs to, 0 if that makes no sense, and what the row is.
func describeRow(table string, row columns) (study int64, what string) {
	study, _ = row.get(studyColumn(table)).(int64)
	switch table {
	case "studies":
		return study, "its head"
	case "trials":
		return study, fmt.Sprintf("trial %v", row.get("number"))
	case "gatings":
		return study, fmt.Sprintf("the gate's verdict %v", row.get("number"))
	case "profiles":
		return study, fmt.Sprintf("profile %v", row.get("number"))
	case "across":
		return study, fmt.Sprintf("round %v on workload %v", row.get("number"), row.get("workload"))
	}
	return study, fmt.Sprintf("%v round %v", row.get("phase"), row.get("number"))
}
