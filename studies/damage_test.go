package studies

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/internal/thorough"
	"pawl/objective"
	"pawl/search/trial"
)

// flips is how many bits TestNoFlippedBitIsSilent changes, each in a file of its own.
var flips = flag.Int("flips", thorough.Count(50, 1000), "how many bits TestNoFlippedBitIsSilent changes")

// record writes two studies as a search would, with failures, rounds and an end.
func record(t *testing.T, store *Store) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		id, err := store.Create(t.Context(), exampleStudy())
		check(err)
		recorder := store.Recorder(id)
		for i := range 40 {
			trial := trial.Trial{Number: i, Point: examplePoint(i)}
			check(recorder.Started(trial))
			trial.Outcome = objective.Outcome{Batch: 3, Binary: fmt.Sprintf("binary %d", i), Stop: objective.Precise}
			if i%5 == 4 {
				trial.Outcome.Failure = &objective.Failure{
					Stage:  objective.Fuzz,
					Reason: "wrong result",
					Detail: "y[0] is 1, not 2",
				}
			} else {
				for j := range 20 {
					trial.Outcome.Samples = append(trial.Outcome.Samples, 1+float64(i)/7+float64(j)/1000)
				}
			}
			check(recorder.Finished(trial))
		}
		check(recorder.Disqualified(3, &objective.Failure{Stage: objective.Fuzz, Reason: "wrong result"}))
		for i := range 10 {
			check(recorder.Measured(trial.Round{
				Phase:   trial.Confirmation,
				Number:  i,
				Point:   examplePoint(0),
				Outcome: objective.Outcome{Samples: []float64{1, 2, 3}},
			}))
		}
		for i := range 6 {
			check(store.Gated(t.Context(), id, exampleGating()))
			check(store.Profiled(t.Context(), id, exampleProfile()))
			check(recorder.MeasuredAcross("other",
				trial.Round{
					Phase:   trial.Across,
					Number:  i,
					Point:   examplePoint(0),
					Outcome: objective.Outcome{Samples: []float64{1, 2, 3}},
				}))
		}
		check(store.Finish(t.Context(), id, trial.Conclusion{Ended: trial.TrialsDone}))
	}
}

// contents returns everything that a report could be made of, and what a user hears
// about damage.
func contents(t *testing.T, path string) (text string, notices []string, err error) {
	t.Helper()
	store, err := OpenExisting(t.Context(), path)
	if err != nil {
		return "", nil, err
	}
	defer store.Close()
	all, err := store.List(t.Context())
	if err != nil {
		return "", store.Notices, err
	}
	var parts []any
	for _, study := range all {
		recorded, err := everything(t.Context(), store, study)
		if err != nil {
			return "", store.Notices, err
		}
		parts = append(parts, recorded...)
	}
	encoded, err := json.Marshal(parts)
	return string(encoded), store.Notices, err
}

// everything is all that is recorded of a study.
func everything(ctx context.Context, store *Store, study Study) ([]any, error) {
	past, err := store.Past(ctx, study.ID)
	if err != nil {
		return nil, err
	}
	across, err := store.Across(ctx, study.ID)
	if err != nil {
		return nil, err
	}
	profiles, err := store.Profiles(ctx, study.ID)
	if err != nil {
		return nil, err
	}
	gatings, err := store.Gatings(ctx, study.ID)
	parts := []any{study, past, across, profiles}
	for _, g := range gatings {
		parts = append(parts, g, g.Result)
	}
	return parts, err
}

// unclean returns a database as a kill leaves it: with a log beside it.
func unclean(t *testing.T) map[string][]byte {
	t.Helper()
	store := openTest(t)
	record(t, store)
	if _, err := store.db.exec(t.Context(), "PRAGMA wal_checkpoint(RESTART)"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Create(t.Context(), exampleStudy()); err != nil {
		t.Fatal(err)
	}
	return read(t, store.Path()) // some pages are in the file, some in the log
}

// read returns a database and its log.
func read(t *testing.T, path string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		files[suffix] = content
	}
	return files
}

// clean returns a database as a search leaves it that ended by itself.
func clean(t *testing.T) map[string][]byte {
	t.Helper()
	path := lay(t, unclean(t))
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"": content}
}

// lay puts a database into a folder of its own.
func lay(t *testing.T, files map[string][]byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "studies.db")
	for suffix, content := range files {
		if err := os.WriteFile(path+suffix, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// A bit of the file that changed gives the same studies, or is reported; never others in silence. One in the log
// ends the log there, as SQLite has it after a loss of power: what is read is what was recorded before.
func TestNoFlippedBitIsSilent(t *testing.T) {
	if testing.Short() {
		t.Skip("opens a hundred files, one after the other")
	}
	t.Parallel()
	for name, make := range map[string]func(*testing.T) map[string][]byte{"clean": clean, "unclean": unclean} {
		t.Run(name, func(t *testing.T) {
			sound := make(t)
			want, notices, err := contents(t, lay(t, sound))
			if err != nil || len(notices) > 0 {
				t.Fatalf("sound: %v %v", notices, err)
			}
			earlier, _, err := contents(t, lay(t, map[string][]byte{"": sound[""]}))
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			reported := 0
			for i := range *flips {
				files := map[string][]byte{}
				for suffix, content := range sound {
					files[suffix] = slices.Clone(content)
				}
				suffix := ""
				if _, logged := sound["-wal"]; logged && i%2 == 1 {
					suffix = "-wal"
				}
				at, bit := rng.IntN(len(files[suffix])), rng.IntN(8)
				if i%4 == 0 { // heads of files and of their first pages matter most
					at = rng.IntN(120)
				}
				files[suffix][at] ^= 1 << bit
				got, notices, err := contents(t, lay(t, files))
				if err != nil || len(notices) > 0 {
					reported++
				} else if got != want && !(suffix == "-wal" && got == earlier) {
					t.Errorf("bit %d of byte %d of studies.db%s changes what is read, in silence", bit, at, suffix)
				}
			}
			t.Logf("%d of %d flips were reported, the others change nothing", reported, *flips)
			if reported < *flips/10 {
				t.Error("is anything read?")
			}
		})
	}
}

// Each column of each table is under its row's digest.
func TestEveryValueIsUnderADigest(t *testing.T) {
	if testing.Short() {
		t.Skip("reads every value, one after the other")
	}
	t.Parallel()
	sound := clean(t)
	db, err := sql.Open("sqlite", lay(t, sound))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, digested := range digestedTables {
		table := digested.name
		rows, err := db.Query("SELECT name, type FROM pragma_table_info(?)", table)
		if err != nil {
			t.Fatal(err)
		}
		columns := map[string]string{}
		for rows.Next() {
			var name, kind string
			if err := rows.Scan(&name, &kind); err != nil {
				t.Fatal(err)
			}
			columns[name] = kind
		}
		rows.Close()
		for column, kind := range columns {
			t.Run(table+"."+column, func(t *testing.T) {
				path := lay(t, sound)
				changed := column + " || ' '"
				if kind == "INTEGER" {
					changed = column + " + 1000"
				}
				where := "id = 2"
				if table != "studies" {
					where = "study = 2 AND number = 5"
				}
				execute(t, path, "UPDATE "+table+" SET "+column+" = "+changed+" WHERE "+where)
				store, err := OpenExisting(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				if len(store.Notices) == 0 {
					t.Error("nothing was said")
				}
				if _, err := store.Past(t.Context(), 1); err != nil {
					t.Errorf("the other study: %v", err)
				}
				moved := column == "id" || column == "study"
				var damage *DamagedError
				if _, err := store.Past(t.Context(), 2); !moved && (!errors.As(err, &damage) || damage.Study != 2) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
}

// A damaged study is listed by its number, and the others as ever.
func TestADamagedStudyIsListed(t *testing.T) {
	path := lay(t, clean(t))
	execute(t, path, "UPDATE trials SET samples = '[0.001]' WHERE study = 1 AND number = 7")
	store, err := OpenExisting(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	all, err := store.List(t.Context())
	if err != nil || len(all) != 3 || all[0].Kernel != "k" || all[1].Kernel != "k" || all[2].Kernel != "" {
		t.Errorf("%+v, %v", all, err)
	}
	if !strings.Contains(all[2].Damaged, "study 1") ||
		!strings.Contains(all[2].Damaged, "trial 7 is not what was recorded") {
		t.Errorf("%q", all[2].Damaged)
	}
}

// Reading leaves a damaged file as it is and says so; opening it for a search sets
// the original aside, with its log.
func TestWhatIsSetAsideIsTheOriginal(t *testing.T) {
	files := unclean(t)
	for i := 4096; i < len(files[""]); i++ { // pages that the log does not have any more
		files[""][i] ^= 0xff
	}
	for name, files := range map[string]map[string][]byte{
		"log beside it":   {"": files[""], "-wal": files["-wal"]},
		"no log":          {"": files[""]},
		"log alone":       {"-wal": files["-wal"]},
		"log and garbage": {"": []byte(strings.Repeat("no database", 1000)), "-wal": files["-wal"]},
	} {
		t.Run(name, func(t *testing.T) {
			path := lay(t, files)
			same := func(place string) {
				t.Helper()
				for suffix, want := range files {
					if got, err := os.ReadFile(place + suffix); err != nil || !slices.Equal(got, want) {
						t.Errorf("%s%s is another: %v", place, suffix, err)
					}
				}
			}
			var damage *DamagedError
			if _, err := OpenExisting(t.Context(), path); !errors.As(err, &damage) {
				t.Errorf("got %v", err)
			}
			same(path)
			store, err := Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			if store.SetAside == "" || len(store.Notices) == 0 {
				t.Fatalf("set aside at %q, %q", store.SetAside, store.Notices)
			}
			same(store.SetAside)
			if all, err := store.List(t.Context()); err != nil || len(all) > 0 {
				t.Errorf("the new one: %v %v", all, err)
			}
		})
	}
}

// An empty file where a database was is not the same as none.
func TestAnEmptyFileIsReported(t *testing.T) {
	t.Parallel()
	var damage *DamagedError
	path := lay(t, map[string][]byte{"": nil})
	// An empty file that is young may be one that another process has just made, and is waited for.
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenExisting(t.Context(), path); !errors.As(err, &damage) {
		t.Errorf("got %v", err)
	}
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
}
