package studies

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
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

// create adds a row and returns what has changed.
func (s session) create(ctx context.Context, row rowKey, c columns) (*changed, error) {
	stored, err := s.sealed(append(c, row.key...))
	if err != nil {
		return nil, err
	}
	return &changed{row: row, after: stored}, s.insert(ctx, row.table, stored)
}

// createAt adds a row whose key is known, with its digest, in one transaction.
func (s *Store) createAt(ctx context.Context, study int64, row rowKey, c columns) error {
	return s.change(ctx, study, func(tx session) (*changed, error) { return tx.create(ctx, row, c) })
}

// append adds a row with the next number that a study has in a table. The number is the first column. What is recorded
// is for the error.
func (s *Store) append(ctx context.Context, study int64, table, what string, c columns) error {
	err := s.change(ctx, study, func(tx session) (*changed, error) {
		// Nobody else numbers meanwhile, because nobody else can change the study's tally.
		var number int64
		if err := tx.queryRow(ctx, []any{&number}, "SELECT COALESCE(MAX(number), 0) + 1 FROM "+table+" WHERE study = ?",
			study); err != nil {
			return nil, err
		}
		return tx.create(ctx, rowOf(table, study, number), slices.Clone(c[1:]))
	})
	return doing(err, "recording %s study %d", what, study)
}

// update changes columns of one row and its digest, in one transaction, if the row is there and meets a condition; it
// reports whether it did.
func (s *Store) update(ctx context.Context, study int64, row rowKey, c columns,
	condition func(before columns) bool) (done bool, err error) {
	err = s.change(ctx, study, func(tx session) (*changed, error) {
		done = false
		before, err := row.read(ctx, tx)
		if err != nil || before == nil || condition != nil && !condition(before) {
			return nil, err
		}
		whole := slices.DeleteFunc(slices.Clone(before), func(o column) bool {
			return o.name == digestColumn || slices.Contains(c.names(), o.name)
		})
		after, err := tx.sealed(append(whole, c...))
		if err != nil {
			return nil, err
		}
		set := after[len(whole):] // with the digest
		done = true
		_, err = tx.exec(ctx, "UPDATE "+row.table+" SET "+strings.Join(set.names(), " = ?, ")+" = ?"+row.where(),
			append(set.values(), row.key.values()...)...)
		return &changed{row, before, after}, err
	})
	return done, err
}

// readRows returns the rows of a study in a table, each compared with its digest; rest says which of them, with more
// arguments, and in which order. Row returns the columns of a value that every row is read into. What was read is
// counted: see wholeTable.
func readRows[T any](ctx context.Context, s *Store, study int64, table, rest string,
	row func(*T) columns, more ...any) (all []T, seen tableTally, err error) {
	var one, none T
	targets, called := row(&one), tableCalled(table)
	err = s.read(ctx, func() error {
		all, seen = nil, tableTally{}
		var changed []string
		err := eachRow(ctx, s.db, func(stored columns) error {
			if !seen.add(stored) {
				changed = append(changed, called.describe(stored))
				return nil
			}
			one = none
			if err := targets.assign(stored); err != nil {
				return fmt.Errorf("%s: %w", called.describe(stored), err)
			}
			all = append(all, one)
			return nil
		}, "SELECT * FROM "+table+" WHERE study = ? "+rest, append([]any{study}, more...)...)
		if err == nil && len(changed) > 0 {
			err = s.changedRows(study, changed)
		}
		return s.damagedBy(study, err)
	})
	return all, seen, doing(err, "reading study %d", study)
}

// assign gives what columns point to the values of a stored row.
func (c columns) assign(stored columns) error {
	for i, target := range c {
		value := any(nil)
		// Rows of one table have their columns in one order: what was at a place is there again.
		if i < len(stored) && stored[i].name == target.name {
			value = stored[i].value
		} else {
			value = stored.get(target.name)
		}
		if err := assign(target.value, value); err != nil {
			return fmt.Errorf("column %s: %w", target.name, err)
		}
	}
	return nil
}

// assign gives a text, a number or what scans itself a value as rows hold it.
func assign(target, value any) error {
	if scanner, ok := target.(sql.Scanner); ok {
		return scanner.Scan(value)
	}
	to := reflect.ValueOf(target).Elem()
	switch v := value.(type) {
	case string:
		if to.Kind() == reflect.String {
			to.SetString(v)
			return nil
		}
	case []byte:
		return assign(target, string(v))
	case int64:
		switch {
		case to.CanInt():
			to.SetInt(v)
			return nil
		case to.Kind() == reflect.Bool:
			to.SetBool(v != 0)
			return nil
		}
	}
	return fmt.Errorf("%v (%T) is no %s", value, value, to.Type())
}
