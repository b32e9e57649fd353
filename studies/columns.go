package studies

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"fmt"
	"strings"
)

// column is a value of a row: its name, and a pointer to it (or what stands for one,
// such as asJSON) that it is written from and read into.
type column struct {
	name  string
	value any
}

type columns []column

func (c columns) names() []string {
	names := make([]string, len(c))
	for i := range c {
		names[i] = c[i].name
	}
	return names
}

func (c columns) values() []any {
	values := make([]any, len(c))
	for i := range c {
		values[i] = c[i].value
	}
	return values
}

// asJSON is a column that holds a value as JSON, and nil as an empty text. It refuses
// NaN and Inf.
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
	return json.Unmarshal(fmt.Append(nil, stored), c.pointer)
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

func (c asText) Scan(stored any) error { return c.pointer.UnmarshalText(fmt.Append(nil, stored)) }

// asSigned is a column that holds an unsigned number, which SQLite does not have.
type asSigned struct{ pointer *uint64 }

func (c asSigned) Value() (driver.Value, error) { return int64(*c.pointer), nil }

func (c asSigned) Scan(stored any) error {
	number, ok := stored.(int64)
	if *c.pointer = uint64(number); !ok {
		return fmt.Errorf("%v is no number", stored)
	}
	return nil
}

// create adds one row and seals it, in one transaction; id is the number that SQLite
// gave to it, from which row makes its key.
func (s *Store) create(ctx context.Context, row func(id int64) rowKey, c columns) (id int64, err error) {
	statement := "INSERT INTO " + row(0).table + " (" + strings.Join(c.names(), ", ") + ") VALUES (" + strings.Repeat(", ?", len(c))[2:] + ")"
	err = s.transact(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, statement, c.values()...)
		if err != nil {
			return err
		}
		if id, err = result.LastInsertId(); err != nil {
			return err
		}
		return row(id).seal(ctx, tx)
	})
	return id, err
}

// createAt adds a row whose key is known.
func (s *Store) createAt(ctx context.Context, row rowKey, c columns) error {
	_, err := s.create(ctx, func(int64) rowKey { return row }, append(c, row.key...))
	return err
}

// update changes columns of one row and seals it, in one transaction, if the row meets
// a condition; it returns how many rows that are.
func (s *Store) update(ctx context.Context, row rowKey, c columns, condition string) (changed int64, err error) {
	statement := "UPDATE " + row.table + " SET " + strings.Join(c.names(), " = ?, ") + " = ?" + row.where() + condition
	err = s.transact(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, statement, append(c.values(), row.key.values()...)...)
		if err != nil {
			return err
		}
		if changed, err = result.RowsAffected(); err != nil || changed == 0 {
			return err
		}
		return row.seal(ctx, tx)
	})
	return changed, err
}

// readRows returns the rows of a study in a table; row returns the columns of one, and what
// is left to do when they have been read.
func readRows[T any](ctx context.Context, s *Store, table, order string, study int64, row func(*T) (columns, func())) ([]T, error) {
	return readRowsWhere(ctx, s, table, "study = ?", order, []any{study}, row)
}

// readRowsWhere returns the rows of a table that meet a condition.
func readRowsWhere[T any](ctx context.Context, s *Store, table, condition, order string, arguments []any, row func(*T) (columns, func())) ([]T, error) {
	template, _ := row(new(T))
	rows, err := s.db.QueryContext(ctx, "SELECT "+strings.Join(template.names(), ", ")+" FROM "+table+" WHERE "+condition+" ORDER BY "+order, arguments...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var one T
		c, done := row(&one)
		if err := rows.Scan(c.values()...); err != nil {
			return nil, fmt.Errorf("%s: %w", table, err)
		}
		done()
		all = append(all, one)
	}
	return all, rows.Err()
}
