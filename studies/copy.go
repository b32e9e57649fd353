package studies

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pawl/internal/collect"
)

// ErrThere says that a database has a study already.
var ErrThere = errors.New("it is there already")

// Copied is a study that has arrived in another database.
type Copied struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Digest is that of everything which is recorded of it, the same at both ends.
	Digest string `json:"digest"`
	// Rows counts what was copied.
	Rows int `json:"rows"`
}

// Copy copies a study with everything that is recorded of it into another database, in one
// transaction, and compares what has arrived there with what was read. The study gets the next
// free number. One that the other database has already is an error that wraps ErrThere, and one
// that is running now wraps ErrBusy.
func (s *Store) Copy(ctx context.Context, study int64, to *Store) (Copied, error) {
	if err := to.Writable(); err != nil {
		return Copied{}, err
	}
	running, err := s.Running(study)
	if err != nil {
		return Copied{}, err
	}
	if running {
		return Copied{}, fmt.Errorf("study %d: %w; copy it when it has ended", study, ErrBusy)
	}
	head, err := s.Study(ctx, study)
	if err != nil {
		return Copied{}, err
	}
	if err := to.refuseTwin(ctx, head); err != nil {
		return Copied{}, fmt.Errorf("study %d of %s: %w", study, s.path, err)
	}
	if err := s.verifyStudy(ctx, study); err != nil {
		return Copied{}, err
	}
	content, err := readContent(ctx, s.db, study)
	if err != nil {
		return Copied{}, fmt.Errorf("reading study %d: %w", study, s.damagedBy(study, err))
	}
	content.storable(to.engine)
	copied := Copied{From: study, Digest: content.digest(), Rows: len(content)}
	err = to.transact(ctx, 0, func(tx session) (err error) {
		copied.To, err = content.write(ctx, tx)
		return err
	})
	return copied, doing(err, "copying study %d to %s", study, to.path)
}

// refuseTwin looks for a study that began as the other did: at the same time, with the same seed, on the same device.
func (s *Store) refuseTwin(ctx context.Context, other Study) error {
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	for _, own := range all {
		if own.Kernel == other.Kernel && own.Workload == other.Workload && own.Seed == other.Seed &&
			own.Fingerprint == other.Fingerprint &&
			own.Source == other.Source && own.Created.Equal(other.Created) &&
			own.Environment.Device == other.Environment.Device {
			return fmt.Errorf("%w, as study %d of %s", ErrThere, own.ID, s.path)
		}
	}
	return nil
}

type content []contentRow

// contentRow is a row without its study's number and its digest, which differ between databases.
type contentRow struct {
	table string
	columns
}

func readContent(ctx context.Context, s session, study int64) (all content, err error) {
	for _, table := range digestedTables {
		of := table.key[0]
		err := eachRow(ctx, s, func(row columns) error {
			all = append(all, contentRow{table.name,
				slices.DeleteFunc(row, func(c column) bool { return c.name == of || c.name == digestColumn })})
			return nil
		}, "SELECT * FROM "+table.name+" WHERE "+of+" = ? ORDER BY "+strings.Join(table.key, ", "), study)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// storable makes every text one that an engine can hold.
func (c content) storable(e engine) {
	for _, row := range c {
		for i, c := range row.columns {
			if text, ok := c.value.(string); ok {
				row.columns[i].value = e.storable(text)
			}
		}
	}
}

// digest identifies the content, whatever the number of the study and the order of the rows.
func (c content) digest() string {
	parts := collect.Each(c, func(row contentRow) string { return row.table + " " + rowDigest(row.columns) })
	slices.Sort(parts)
	return fmt.Sprintf("%.16x", sha256.Sum256([]byte(strings.Join(parts, "\n"))))
}

// write adds the rows as a new study, reads them again and returns its number.
func (c content) write(ctx context.Context, tx session) (id int64, err error) {
	if len(c) == 0 || c[0].table != "studies" {
		return 0, ErrNoStudy
	}
	head := c[0].columns
	if err := tx.queryRow(ctx, []any{&id}, head.insertion("studies")+" RETURNING id", head.values()...); err != nil {
		return 0, err
	}
	row := rowOf("studies", id)
	stored, err := tx.sealed(append(slices.Clone(head), row.key...))
	if err != nil {
		return 0, err
	}
	if _, err := tx.exec(ctx, "UPDATE studies SET digest = ?"+row.where(), stored.get(digestColumn), id); err != nil {
		return 0, err
	}
	for _, row := range c[1:] {
		whole := append(slices.Clone(row.columns), column{"study", id})
		whole = append(whole, column{digestColumn, rowDigest(whole)})
		if err := tx.insert(ctx, row.table, whole); err != nil {
			return 0, err
		}
	}
	arrived, err := readContent(ctx, tx, id)
	if err != nil {
		return 0, err
	}
	if arrived.digest() != c.digest() {
		return 0, errors.New("what has arrived is not what was sent; nothing was kept")
	}
	counted, err := countRows(ctx, tx, id)
	if err != nil {
		return 0, err
	}
	return id, writeSummary(ctx, tx, id, summary{tally: counted[id]})
}
