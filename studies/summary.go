package studies

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pawl/search/trial"
)

// A summary is what is kept of a study beside its rows, so that what is asked about one study, or about all of them,
// does not read the rows of all. Its tally is brought up to date in the transaction that writes a row. What a list
// says of a study, its facts, is made by whoever reads the study (report.Lines), and kept for the next one.
//
// The tally also finds rows that are gone: what is read of a table must be as many rows as were written, with the same
// sum of digests. A summary holds nothing that is nowhere else. One that is missing or damaged is made again.

// tally counts a study's rows.
type tally struct {
	Tables map[string]tableTally `json:"tables"`
	// Finished and Failed count trials, Confirmed the rounds of the confirmation.
	Finished  int `json:"finished,omitempty"`
	Failed    int `json:"failed,omitempty"`
	Confirmed int `json:"confirmed,omitempty"`
}

// tableTally is how many rows there are, and the sum of their digests, of any order, modulo 2^64.
type tableTally struct {
	Rows int    `json:"rows"`
	Sum  uint64 `json:"sum"`
}

// add counts a row, and reports whether it is what its digest says.
func (t *tableTally) add(row columns) (sound bool) {
	digest, _ := row.get(digestColumn).(string)
	t.Rows++
	t.Sum += digestNumber(digest)
	return rowDigest(row) == digest
}

// digestNumber is the part of a digest that is summed.
func digestNumber(digest string) uint64 {
	number, err := strconv.ParseUint(digest[:min(16, len(digest))], 16, 64)
	if err != nil {
		return 1 // such a row is not sound in any case
	}
	return number
}

// exchange takes out a row as it was, if it was there, and puts it in as it is.
func (t *tally) exchange(table string, before, after columns) {
	if t.Tables == nil {
		t.Tables = map[string]tableTally{}
	}
	t.count(table, before, -1)
	t.count(table, after, +1)
}

func (t *tally) count(table string, row columns, sign int) {
	if row == nil {
		return
	}
	digest, _ := row.get(digestColumn).(string)
	of := t.Tables[table]
	of.Rows += sign
	if number := digestNumber(digest); sign > 0 {
		of.Sum += number
	} else {
		of.Sum -= number
	}
	t.Tables[table] = of
	if table != "trials" {
		return
	}
	if row.get("told") != int64(0) && row.get("told") != nil {
		t.Finished += sign
	}
	if stage, _ := row.get("stage").(string); stage != "" {
		t.Failed += sign
	}
}

// countConfirmed counts the rounds of the confirmation, where one of a table may be new.
func (t *tally) countConfirmed(ctx context.Context, tx session, study int64, table string) error {
	if table != "rounds" {
		return nil
	}
	return tx.queryRow(ctx, []any{&t.Confirmed}, "SELECT COUNT(DISTINCT number) FROM rounds WHERE study = ? AND phase = ?",
		study, string(trial.Confirmation))
}

// state is another one when anything has been recorded of the study.
func (t *tally) state() string {
	text, err := json.Marshal(t)
	if err != nil {
		panic("studies: " + err.Error())
	}
	return rowDigest(columns{{"tally", string(text)}})
}

// summary is a row of the table.
type summary struct {
	study int64
	tally *tally
	// facts are of a state of the study and of who made them, factsOf.
	facts, factsOf string
}

// readSummaries returns those of one study, or of all where it is 0. One that is not what was written is left out, and
// so is whatever comes after a page that cannot be read: it is made again.
func readSummaries(ctx context.Context, s session, study int64) (map[int64]summary, error) {
	found := map[int64]summary{}
	err := eachRow(ctx, s, func(row columns) error {
		one := summary{tally: &tally{}}
		digest, _ := row.get(digestColumn).(string)
		text, _ := row.get("tally").(string)
		if rowDigest(row) != digest || json.Unmarshal([]byte(text), one.tally) != nil {
			return nil
		}
		one.study, _ = row.get("study").(int64)
		one.facts, _ = row.get("facts").(string)
		one.factsOf, _ = row.get("facts_of").(string)
		found[one.study] = one
		return nil
	}, "SELECT * FROM summaries WHERE ?1 = 0 OR study = ?1", study)
	if damaged(err) {
		err = nil
	}
	return found, err
}

// toWrite keeps others from writing to a study until the transaction ends that reads its summary so.
const toWrite = " /* FOR UPDATE */"

// readSummary returns a study's, nil where there is none that can be used.
func readSummary(ctx context.Context, s session, study int64, how string) (*summary, error) {
	one := summary{study: study, tally: &tally{}}
	var text, digest string
	err := s.queryRow(ctx, []any{&text, &one.facts, &one.factsOf, &digest},
		"SELECT tally, facts, facts_of, digest FROM summaries WHERE study = ?"+how, study)
	switch {
	case errors.Is(err, sql.ErrNoRows) || damaged(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if sealed, err := s.sealed(one.columns(text)); err != nil || sealed.get(digestColumn) != digest ||
		json.Unmarshal([]byte(text), one.tally) != nil {
		return nil, err
	}
	return &one, nil
}

func (one summary) columns(tally string) columns {
	return columns{{"study", one.study}, {"tally", tally}, {"facts", one.facts}, {"facts_of", one.factsOf}}
}

// writeSummary writes a study's, in the place of the one that is there.
func writeSummary(ctx context.Context, tx session, study int64, one summary) error {
	one.study = study
	text, err := json.Marshal(one.tally)
	if err != nil {
		return err
	}
	row, err := tx.sealed(one.columns(string(text)))
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, row.insertion("summaries")+" ON CONFLICT (study) DO UPDATE SET tally = excluded.tally, "+
		"facts = excluded.facts, facts_of = excluded.facts_of, digest = excluded.digest", row.values()...)
	return err
}

// tallyToWrite returns the tally of a study that is written to, which nobody else is until the transaction ends. One
// that cannot be used is made again.
func tallyToWrite(ctx context.Context, tx session, study int64) (*tally, error) {
	one, err := readSummary(ctx, tx, study, toWrite)
	if err != nil {
		return nil, err
	}
	if one != nil {
		return one.tally, nil
	}
	all, err := countRows(ctx, tx, study)
	if err != nil {
		return nil, err
	}
	if all[study] == nil {
		return &tally{}, nil // there is no such study, as who writes to it will notice
	}
	return all[study], nil
}

// countRows makes the tallies of one study, or of all where it is 0, from their rows.
func countRows(ctx context.Context, s session, study int64) (map[int64]*tally, error) {
	all := map[int64]*tally{}
	for _, table := range digestedTables {
		of := table.key[0]
		more := ""
		if table.name == "trials" {
			more = ", told, stage"
		}
		err := eachRow(ctx, s, func(row columns) error {
			id, _ := row.get(of).(int64)
			if all[id] == nil {
				all[id] = &tally{}
			}
			all[id].exchange(table.name, nil, row)
			return nil
		}, "SELECT "+of+", "+digestColumn+more+" FROM "+table.name+" WHERE ?1 = 0 OR "+of+" = ?1", study)
		if err != nil {
			return nil, err
		}
	}
	for id, one := range all {
		if one.Tables["rounds"].Rows == 0 {
			continue
		}
		if err := one.countConfirmed(ctx, s, id, "rounds"); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// wholeTable reads all rows of a study in a table, and compares what was seen with the study's tally. A study that is
// being written meanwhile is read again; one that is written all the time is compared row by row only.
func (s *Store) wholeTable(ctx context.Context, study int64, table string, read func() (tableTally, error)) error {
	tally := func() (*summary, error) {
		var one *summary
		err := s.read(ctx, func() (err error) { one, err = readSummary(ctx, s.db, study, ""); return err })
		return one, err
	}
	for range 3 {
		before, err := tally()
		if err != nil {
			return doing(err, "reading study %d", study)
		}
		seen, err := read()
		if err != nil || before == nil || before.tally.Tables[table] == seen {
			return err
		}
		after, err := tally()
		if err != nil {
			return doing(err, "reading study %d", study)
		}
		if after != nil && after.tally.Tables[table] == before.tally.Tables[table] {
			return s.damagedStudy(study, fmt.Sprintf("of %d rows in table %s, %d are there",
				before.tally.Tables[table].Rows, table, seen.Rows))
		}
	}
	return nil
}

// readAll returns all rows of a study in a table: see readRows.
func readAll[T any](ctx context.Context, s *Store, study int64, table, order string,
	row func(*T) columns) (all []T, err error) {
	err = s.wholeTable(ctx, study, table, func() (seen tableTally, err error) {
		all, seen, err = readRows(ctx, s, study, table, order, row)
		return seen, err
	})
	return all, err
}

// Facts are what lists say of a study: whatever their maker has put into it.
type Facts struct {
	// State is what the study was when they were made, By who has made them: those of another state, or by another
	// maker, are not what they would be now.
	State, By string
	Text      []byte
}

// Facts returns what was kept for lists of one study, or of all where it is 0, with the state that each is in: facts of
// another state are left out.
func (s *Store) Facts(ctx context.Context, study int64) (map[int64]Facts, error) {
	var all map[int64]summary
	err := s.read(ctx, func() (err error) { all, err = readSummaries(ctx, s.db, study); return err })
	if err != nil {
		return nil, fmt.Errorf("listing studies: %w", err)
	}
	facts := map[int64]Facts{}
	for id, one := range all {
		known := Facts{State: one.tally.state()}
		if state, by, _ := strings.Cut(one.factsOf, " "); state == known.State {
			known.By, known.Text = by, []byte(one.facts)
		}
		facts[id] = known
	}
	return facts, nil
}

// KeepFacts keeps what lists say of a study, if it still is in the state that they were made of. That they cannot be
// kept, by one who may only read, loses nothing.
func (s *Store) KeepFacts(ctx context.Context, study int64, facts Facts) {
	if s.Writable() != nil {
		return
	}
	s.transact(ctx, 0, func(tx session) error { //nolint:errcheck // they are made again
		one, err := readSummary(ctx, tx, study, toWrite)
		if err != nil || one == nil || one.tally.state() != facts.State {
			return err
		}
		one.facts, one.factsOf = string(facts.Text), facts.State+" "+facts.By
		return writeSummary(ctx, tx, study, *one)
	})
}
