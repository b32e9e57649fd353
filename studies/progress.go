package studies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"pawl/search"
	"pawl/search/confirm"
)

// Pulse is what changes while another process runs a study, for those who watch it.
type Pulse struct {
	// Trials counts all, Finished and Failed some of them, Rounds what was measured after
	// the search, Gatings, Across and Profiles what was measured after the study.
	Trials, Finished, Failed, Rounds, Gatings, Across, Profiles int
	Ended                                                       search.Ending
	Elapsed                                                     int64
}

// Pulse asks for it; that is much quicker than reading the study.
func (s *Store) Pulse(ctx context.Context, study int64) (p Pulse, err error) {
	if err := s.damageOf(study); err != nil {
		return p, err
	}
	var found int
	err = s.db.QueryRowContext(ctx, `SELECT
		(SELECT COUNT(*) FROM studies WHERE id = ?1), COALESCE((SELECT ended FROM studies WHERE id = ?1), ''), COALESCE((SELECT elapsed_ns FROM studies WHERE id = ?1), 0),
		(SELECT COUNT(*) FROM rounds WHERE study = ?1), (SELECT COUNT(*) FROM gatings WHERE study = ?1), (SELECT COUNT(*) FROM across WHERE study = ?1), (SELECT COUNT(*) FROM profiles WHERE study = ?1),
		COUNT(*), COALESCE(SUM(told), 0), COALESCE(SUM(stage <> ''), 0) FROM trials WHERE study = ?1`, study).
		Scan(&found, &p.Ended, &p.Elapsed, &p.Rounds, &p.Gatings, &p.Across, &p.Profiles, &p.Trials, &p.Finished, &p.Failed)
	if err != nil {
		return p, fmt.Errorf("reading study %d: %w", study, err)
	}
	if found == 0 {
		return p, fmt.Errorf("%w: %d in %s", ErrNoStudy, study, s.path)
	}
	return p, nil
}

// TrialsFrom returns a study's trials from a number on.
func (s *Store) TrialsFrom(ctx context.Context, study int64, number int) ([]search.Trial, error) {
	return s.trialsWhere(ctx, "study = ? AND number >= ?", study, number)
}

// Rounds returns what was measured after a study's search.
func (s *Store) Rounds(ctx context.Context, study int64) ([]confirm.Round, error) {
	return s.rounds(ctx, study)
}

// Running reports whether a process runs a study now. It takes no lock.
func (s *Store) Running(study int64) (bool, error) {
	file, err := os.OpenFile(s.path+".lock", os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking whether study %d runs: %w", study, err)
	}
	defer file.Close() // opened for reading only
	region := unix.Flock_t{Type: unix.F_WRLCK, Whence: 0, Start: study, Len: 1}
	if err := unix.FcntlFlock(file.Fd(), askCommand, &region); err != nil {
		return false, fmt.Errorf("looking whether study %d runs: %w", study, err)
	}
	return region.Type != unix.F_UNLCK, nil
}
