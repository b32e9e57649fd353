package studies

import (
	"context"
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

// Pulse asks for it; that is much quicker than reading the study.
func (s *Store) Pulse(ctx context.Context, study int64) (p Pulse, err error) {
	if err := s.damageOf(ctx, study); err != nil {
		return p, err
	}
	var found int
	targets := []any{&found, &p.Head, &p.Ended, &p.Elapsed, &p.Rounds, &p.Gatings, &p.Across, &p.Profiles, &p.Trials,
		&p.Finished, &p.Failed, &p.Later}
	err = s.read(ctx, func() error {
		return s.db.queryRow(ctx, targets, `SELECT
		(SELECT COUNT(*) FROM studies WHERE id = ?1), COALESCE((SELECT digest FROM studies WHERE id = ?1), ''),
		COALESCE((SELECT ended FROM studies WHERE id = ?1), ''),
		COALESCE((SELECT elapsed_ns FROM studies WHERE id = ?1), 0),
		(SELECT COUNT(*) FROM rounds WHERE study = ?1), (SELECT COUNT(*) FROM gatings WHERE study = ?1),
		(SELECT COUNT(*) FROM across WHERE study = ?1), (SELECT COUNT(*) FROM profiles WHERE study = ?1),
		COUNT(*), COALESCE(SUM(told), 0), COUNT(CASE WHEN stage <> '' THEN 1 END),
		(SELECT COUNT(*) FROM studies WHERE id > ?1 AND kernel = (SELECT kernel FROM studies WHERE id = ?1))
		FROM trials WHERE study = ?1`, study)
	})
	if err != nil {
		return p, fmt.Errorf("reading study %d: %w", study, err)
	}
	if found == 0 {
		return p, s.NoStudy(study)
	}
	return p, nil
}
