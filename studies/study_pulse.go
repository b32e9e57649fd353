package studies

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pawl/search/trial"
)

// Pulse is what changes while another process runs a study, for those who watch it.
type Pulse struct {
	// Trials counts all, Finished and Failed some of them, Rounds what was measured after
	// the search, Gatings, Across and Profiles what was measured after the study.
	Trials, Finished, Failed, Rounds, Gatings, Across, Profiles int
	Ended                                                       trial.Ending
	Elapsed                                                     int64
	// Head is the digest of what is recorded of the study itself, Later counts the newer studies of its kernel.
	Head  string
	Later int
}

// Pulse asks for it, without reading the study's rows.
func (s *Store) Pulse(ctx context.Context, study int64) (p Pulse, err error) {
	var kept *summary
	err = s.read(ctx, func() error {
		if kept, err = readSummary(ctx, s.db, study, ""); err != nil {
			return err
		}
		if kept == nil { // it was damaged, or an earlier pawl has written the study meanwhile
			all, err := countRows(ctx, s.db, study)
			if kept = (&summary{tally: all[study]}); err != nil || kept.tally == nil {
				return cmp.Or(err, s.NoStudy(study))
			}
		}
		err := s.db.queryRow(ctx, []any{&p.Head, &p.Ended, &p.Elapsed, &p.Later}, `SELECT digest, ended, elapsed_ns,
		(SELECT COUNT(*) FROM studies WHERE id > ?1 AND kernel = (SELECT kernel FROM studies WHERE id = ?1))
		FROM studies WHERE id = ?1`, study)
		if errors.Is(err, sql.ErrNoRows) {
			return s.damagedStudy(study, headMissing)
		}
		return s.damagedBy(study, err)
	})
	if err != nil {
		return Pulse{}, fmt.Errorf("reading study %d: %w", study, err)
	}
	t := kept.tally
	p.Trials, p.Finished, p.Failed, p.Rounds = t.Tables["trials"].Rows, t.Finished, t.Failed, t.Tables["rounds"].Rows
	p.Gatings, p.Across, p.Profiles = t.Tables["gatings"].Rows, t.Tables["across"].Rows, t.Tables["profiles"].Rows
	return p, nil
}
