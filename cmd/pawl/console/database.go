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
	"pawl/objective/devices"
	"pawl/studies"
)

// DatabaseVariable names the study database where --db does not. A URL with a password belongs
// there: a flag shows it to everybody who lists processes.
const DatabaseVariable = "PAWL_DB"

// Database returns where the studies are: a file, or a URL.
func (o *Common) Database() string {
	if u, err := url.Parse(o.DB); err == nil && u.User != nil {
		if _, shown := u.User.Password(); shown {
			o.Notice("everybody on this machine can read the password on the command line while pawl runs: put the " +
				"URL into " + DatabaseVariable + ", or the password into the file that PGPASSFILE names")
		}
	}
	return cmp.Or(o.DB, o.Getenv(DatabaseVariable), filepath.Join(o.Out, kernels.DatabaseName))
}

// OpenStudies opens the study database. Where there is none, the answer is that there is
// nothing.
func (o *Common) OpenStudies(ctx context.Context) (*studies.Store, error) {
	store, err := studies.OpenExisting(ctx, o.Database())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, devices.Nothingf("%w; %s makes one", err, o.Pawl("tune"))
	}
	if err != nil {
		return nil, err
	}
	store.Place = o.Place
	store.Hear(o.Notice)
	for _, notice := range store.Notices {
		o.Notice(notice)
	}
	return store, nil
}

// OpenStudy opens the study that the arguments name, or the last one.
func (o *Common) OpenStudy(ctx context.Context, arguments []string) (*studies.Store, studies.Study, error) {
	none := studies.Study{}
	text, err := AtMostOne(arguments, "study")
	if err != nil {
		return nil, none, err
	}
	id := int64(0)
	if text != "" {
		if id, err = o.StudyNumber(text); err != nil {
			return nil, none, err
		}
	}
	store, err := o.OpenStudies(ctx)
	if err != nil {
		return nil, none, err
	}
	if id == 0 {
		if id, err = store.Newest(ctx); err == nil && id == 0 { // a damaged one is not passed over
			err = NoStudies(store)
		}
	}
	study := none
	if err == nil {
		study, err = store.Study(ctx, id)
	}
	if err != nil {
		store.Close()
	}
	return store, study, err
}

// StudyNumber reads the number of a study.
func (o *Common) StudyNumber(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, Usagef("%q is not the number of a study; see %s", text, o.Pawl("studies", "list"))
	}
	return id, nil
}

func NoStudies(store *studies.Store) error {
	return devices.Nothingf("no studies in %s; %s makes one", store.Path(), store.Place.Pawl("tune"))
}
