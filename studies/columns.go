package studies

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"fmt"
	"strings"

	"pawl/internal/collect"
)

// column is a value of a row: its name, and a pointer to it (or what stands for one,
// such as asJSON) that it is written from and read into.
type column struct {
	name  string
	value any
}

type columns []column

func (c columns) names() []string {
	return collect.Each(c, func(one column) string { return one.name })
}

func (c columns) values() []any {
	return collect.Each(c, func(one column) any { return one.value })
}

func (c columns) get(name string) any {
	found, _ := collect.First(c, func(one column) bool { return one.name == name })
	return found.value
}

// asJSON is a column that holds a value as JSON, and nil as an empty text. It refuses NaN and Inf.
type asJSON struct{ pointer any }

func (c asJSON) Value() (driver.Value, error) {
	text, err := json.Marshal(c.pointer)
	if string(text) == "null" {
		return "", err
	}
	return string(text), err
}

func (c asJSON) Scan(stored any) error {
	if isEmpty(stored) || stored == "null" {
		return nil
	}
	return json.Unmarshal(textOf(stored), c.pointer)
}

// textOf is a text as a driver returns it.
func textOf(stored any) []byte {
	if text, ok := stored.(string); ok {
		return []byte(text)
	}
	return fmt.Append(nil, stored)
}

// asText is a column that holds a value as its own text.
type asText struct {
	pointer interface {
		encoding.TextMarshaler
		encoding.TextUnmarshaler
	}
}

func (c asText) Value() (driver.Value, error) {
	text, err := c.pointer.MarshalText()
	return string(text), err
}

func (c asText) Scan(stored any) error { return c.pointer.UnmarshalText(textOf(stored)) }

// asSigned is a column that holds an unsigned number, which databases do not have.
type asSigned struct{ pointer *uint64 }

func (c asSigned) Value() (driver.Value, error) { return int64(*c.pointer), nil }

func (c asSigned) Scan(stored any) error {
	number, ok := stored.(int64)
	if *c.pointer = uint64(number); !ok {
		return fmt.Errorf("%v is no number", stored)
	}
	return nil
}

func (s session) insert(ctx context.Context, table string, c columns) error {
	_, err := s.exec(ctx, c.insertion(table), c.values()...)
	return err
}

func (c columns) insertion(table string) string {
	return "INSERT INTO " + table + " (" + strings.Join(c.names(), ", ") + ") VALUES (" +
		strings.Repeat(", ?", len(c))[2:] + ")"
}

// createAt adds a row whose key is known, and gives it its digest, in one transaction.
func (s *Store) createAt(ctx context.Context, study int64, row rowKey, c columns) error {
	return s.change(ctx, study, func(tx session) (rowKey, error) {
		return row, tx.insert(ctx, row.table, append(c, row.key...))
	})
}

// append adds a row with the next number that a study has in a table. The number is the first column. What is recorded
// is for the error.
func (s *Store) append(ctx context.Context, study int64, table, what string, c columns) error {
	err := s.change(ctx, study, func(tx session) (row rowKey, err error) {
		// Nobody else numbers meanwhile, because nobody else can change the study's head.
		if _, err := tx.exec(ctx, "UPDATE studies SET digest = digest WHERE id = ?", study); err != nil {
			return row, err
		}
		var number int
		if err := tx.queryRow(ctx, []any{&number}, "SELECT COALESCE(MAX(number), 0) + 1 FROM "+table+" WHERE study = ?",
			study); err != nil {
			return row, err
		}
		row = rowOf(table, study, number)
		return row, tx.insert(ctx, table, append(c[1:], row.key...))
	})
	return doing(err, "recording %s study %d", what, study)
}

// update changes columns of one row and gives it its digest, in one transaction, if the row meets
// a condition; it returns how many rows that are.
func (s *Store) update(ctx context.Context, study int64, row rowKey, c columns,
	condition string) (changed int64, err error) {
	statement := "UPDATE " + row.table + " SET " + strings.Join(c.names(), " = ?, ") + " = ?" + row.where() + condition
	err = s.change(ctx, study, func(tx session) (rowKey, error) {
		if changed, err = tx.exec(ctx, statement, append(c.values(), row.key.values()...)...); err != nil || changed == 0 {
			return rowKey{}, err
		}
		return row, nil
	})
	return changed, err
}

// readRows returns the rows of a study in a table; rest says which of them, with more arguments, and in which order.
// Row returns the columns of a value that every row is read into.
func readRows[T any](ctx context.Context, s *Store, study int64, table, rest string,
	row func(*T) columns, more ...any) ([]T, error) {
	if err := s.damageOf(ctx, study); err != nil {
		return nil, err
	}
	var one, none T
	c := row(&one)
	targets := c.values()
	var all []T
	statement := "SELECT " + strings.Join(c.names(), ", ") + " FROM " + table + " WHERE study = ? " + rest
	err := s.read(ctx, func() error {
		all = nil
		return s.db.query(ctx, func(rows *sql.Rows) error {
			one = none
			if err := rows.Scan(targets...); err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
			all = append(all, one)
			return nil
		}, statement, append([]any{study}, more...)...)
	})
	return all, doing(err, "reading study %d", study)
}
