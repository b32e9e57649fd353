package console

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"

	"pawl/kernels"
	"pawl/studies"
)

// OpenStudies opens the database in a folder. Where there is none, the answer is that
// there is nothing.
func OpenStudies(ctx context.Context, env Environment, folder string) (*studies.Store, error) {
	store, err := studies.OpenExisting(ctx, filepath.Join(folder, kernels.DatabaseName))
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
func OpenStudy(ctx context.Context, env Environment, folder string, arguments []string) (*studies.Store, studies.Study, error) {
	none := studies.Study{}
	text, err := AtMostOne(arguments, "study")
	if err != nil {
		return nil, none, err
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if text != "" && (err != nil || id < 1) {
		return nil, none, Usagef("%q is not the number of a study; see pawl studies list", text)
	}
	store, err := OpenStudies(ctx, env, folder)
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
		err = Usage(err)
	}
	if err != nil {
		store.Close()
	}
	return store, study, err
}

func NoStudies(store *studies.Store) error {
	return Nothingf("no studies in %s; pawl tune makes one", store.Path())
}
