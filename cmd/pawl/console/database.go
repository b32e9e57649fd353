package console

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"

	"pawl/kernels"
	"pawl/studies"
)

// DatabaseVariable names the study database where --db does not. A URL with a password belongs
// there: a flag shows it to everybody who lists processes.
const DatabaseVariable = "PAWL_DB"

// Database returns where the studies are: a file, or a URL.
func (o *Common) Database(env Environment) string {
	if u, err := url.Parse(o.DB); err == nil && u.User != nil {
		if _, shown := u.User.Password(); shown {
			env.Notice("everybody on this machine can read the password on the command line while pawl runs: put the " +
				"URL into " + DatabaseVariable + ", or the password into the file that PGPASSFILE names")
		}
	}
	return cmp.Or(o.DB, env.Getenv(DatabaseVariable), filepath.Join(o.Out, kernels.DatabaseName))
}

// OpenStudies opens the study database. Where there is none, the answer is that there is
// nothing.
func OpenStudies(ctx context.Context, env Environment, o Common) (*studies.Store, error) {
	store, err := studies.OpenExisting(ctx, o.Database(env))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Nothingf("%w; pawl tune makes one", err)
	}
	if err != nil {
		return nil, err
	}
	for _, notice := range store.Notices {
		env.Notice(notice)
	}
	return store, nil
}

// OpenStudy opens the study that the arguments name, or the last one.
func OpenStudy(ctx context.Context, env Environment, o Common,
	arguments []string) (*studies.Store, studies.Study, error) {
	none := studies.Study{}
	text, err := AtMostOne(arguments, "study")
	if err != nil {
		return nil, none, err
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if text != "" && (err != nil || id < 1) {
		return nil, none, Usagef("%q is not the number of a study; see pawl studies list", text)
	}
	store, err := OpenStudies(ctx, env, o)
	if err != nil {
		return nil, none, err
	}
	if id == 0 {
		var all []studies.Study
		if all, err = store.List(ctx); err == nil && len(all) > 0 {
			id = all[0].ID // a damaged one is not passed over
		} else if err == nil {
			err = NoStudies(store)
		}
	}
	study := none
	if err == nil {
		study, err = store.Study(ctx, id)
	}
	if errors.Is(err, studies.ErrNoStudy) {
		err = Usagef("%w; see pawl studies list", err)
	}
	if err != nil {
		store.Close()
	}
	return store, study, err
}

func NoStudies(store *studies.Store) error {
	return Nothingf("no studies in %s; pawl tune makes one", store.Path())
}
