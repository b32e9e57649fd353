package studies

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
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
	if _, err := store.Study(ctx, study.ID); err != nil {
		return nil, err
	}
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

// A bit of the file or its log that changed gives the same studies, or is reported; never others in silence.
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
				} else if got != want {
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
				if _, err := everything(t.Context(), store, Study{ID: 1}); err != nil {
					t.Errorf("the other study: %v", err)
				}
				var damage *DamagedError
				if _, err := everything(t.Context(), store, Study{ID: 2}); !errors.As(err, &damage) || damage.Study != 2 {
					t.Errorf("got %v", err)
				}
				if damage, err := store.Verify(t.Context()); err != nil || len(damage) == 0 {
					t.Errorf("nothing is found: %v", err)
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

// Rows that are gone are noticed where their table is read, and a head that is gone by the list.
func TestRowsThatAreGoneAreNoticed(t *testing.T) {
	for _, gone := range []string{"trials WHERE study = 2 AND number = 39", "trials WHERE study = 2",
		"rounds WHERE study = 2 AND number = 3", "gatings WHERE study = 2 AND number = 6",
		"profiles WHERE study = 2 AND number = 1", "across WHERE study = 2 AND number = 2", "studies WHERE id = 2"} {
		path := lay(t, clean(t))
		execute(t, path, "DELETE FROM "+gone)
		store, err := OpenExisting(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		var damage *DamagedError
		if _, err := everything(t.Context(), store, Study{ID: 2}); !errors.As(err, &damage) || damage.Study != 2 {
			t.Errorf("%s: %v", gone, err)
		}
		all, err := store.List(t.Context())
		if err != nil || len(all) != 3 || (all[1].Damaged != "") != strings.HasPrefix(gone, "studies") {
			t.Errorf("%s: %d studies, %v", gone, len(all), err)
		}
		store.Close()
	}
}

// A summary holds nothing that is nowhere else: one that is damaged or missing is made again by whoever writes next.
func TestADamagedSummaryLosesNothing(t *testing.T) {
	for _, damage := range []string{"UPDATE summaries SET tally = '{}'", "UPDATE summaries SET digest = ''",
		"DELETE FROM summaries"} {
		path := lay(t, clean(t))
		want, _, err := contents(t, path)
		if err != nil {
			t.Fatal(err)
		}
		before := summariesOf(t, path)
		execute(t, path, damage)
		store, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if pulse, err := store.Pulse(t.Context(), 1); err != nil || pulse.Trials != 40 || pulse.Rounds != 10 {
			t.Errorf("%+v, %v", pulse, err)
		}
		for id := range before {
			if err := store.Annotate(t.Context(), id, Annotations{}); err != nil {
				t.Fatal(err)
			}
		}
		store.Close()
		if got, _, err := contents(t, path); err != nil || got != want {
			t.Errorf("%s: others are read: %v", damage, err)
		}
		if after := summariesOf(t, path); !reflect.DeepEqual(after, before) {
			t.Errorf("%s: %v, want %v", damage, after, before)
		}
	}
}

func summariesOf(t *testing.T, path string) map[int64]tally {
	t.Helper()
	store, err := OpenExisting(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	all, err := readSummaries(t.Context(), store.db, 0)
	if err != nil {
		t.Fatal(err)
	}
	tallies := map[int64]tally{}
	for id, one := range all {
		tallies[id] = *one.tally
	}
	return tallies
}

// A damaged study is listed by its number, and the others as ever.
func TestADamagedStudyIsListed(t *testing.T) {
	path := lay(t, clean(t))
	execute(t, path, "UPDATE studies SET sampler = 'other' WHERE id = 1")
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
		!strings.Contains(all[2].Damaged, "its head is not what was recorded") {
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

// A log of which SQLite would drop transactions is kept with its database, also by who only reads, and said.
func TestADamagedLogIsSetAside(t *testing.T) {
	t.Parallel()
	sound := unclean(t)
	want, _, err := contents(t, lay(t, sound))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 25 {
		files := map[string][]byte{"": sound[""], "-wal": slices.Clone(sound["-wal"])}
		at := rng.IntN(len(files["-wal"]))
		switch frame := frameHeaderSize + 4096; {
		case i < 8: // the head of the log
			at = 4 * i
		case i < 16: // the head of the last frame
			at = logHeaderSize + ((len(files["-wal"])-logHeaderSize)/frame-1)*frame + 3*(i-8)
		}
		files["-wal"][at] ^= 1 << rng.IntN(8)
		for how, open := range map[string]func(context.Context, string) (*Store, error){"read": OpenExisting, "tune": Open} {
			path := lay(t, files)
			store, err := open(t.Context(), path)
			if err != nil {
				t.Errorf("byte %d, %s: %v", at, how, err)
				continue
			}
			notices := store.Notices
			store.Close()
			got, later, err := contents(t, path)
			switch {
			case err != nil || len(later) > 0:
				t.Errorf("byte %d, %s: %q, %v", at, how, later, err)
			case len(notices) == 0 && got != want:
				t.Errorf("byte %d, %s: what is read is another, in silence", at, how)
			case len(notices) > 0:
				_, aside, _ := strings.Cut(notices[0], "the database is at ")
				for suffix, content := range files {
					if kept, err := os.ReadFile(aside + suffix); err != nil || !slices.Equal(kept, content) {
						t.Errorf("byte %d, %s: %q: %v", at, how, notices, err)
					}
				}
			}
		}
	}
}

// What a killed process leaves of a transaction that it has not ended is not lost, and nothing is said of it.
func TestAnUnfinishedTransactionIsNoDamage(t *testing.T) {
	store := openTest(t)
	record(t, store)
	tx, err := store.engine.begin(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // it is not ended
	if _, err := tx.Exec("PRAGMA cache_size = 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("UPDATE trials SET detail = printf('%.2000c', 'x')"); err != nil { // more than the cache holds
		t.Fatal(err)
	}
	files := read(t, store.Path())
	if lost := damagedFrames(files["-wal"]); lost != "" {
		t.Error(lost)
	}
	frame := len(files["-wal"]) - frameHeaderSize - 4096
	if binary.BigEndian.Uint32(files["-wal"][frame+4:]) != 0 {
		t.Fatal("the last frame ends a transaction")
	}
	files["-wal"][frame+100] ^= 1 // of what nobody has recorded
	if lost := damagedFrames(files["-wal"]); lost != "" {
		t.Error(lost)
	}
}

// A file that is not empty and no database is left alone by who reads, and set aside by a search; SQLite itself would
// take one of a byte for a new database.
func TestAShortFileIsNotWrittenOver(t *testing.T) {
	whole := clean(t)[""]
	for _, left := range []int{1, 15, 16, 100, 511, 512, 4096, len(whole) - 1} {
		path := lay(t, map[string][]byte{"": whole[:left]})
		var damage *DamagedError
		if _, err := OpenExisting(t.Context(), path); !errors.As(err, &damage) {
			t.Errorf("%d bytes: %v", left, err)
		}
		if now, err := os.ReadFile(path); err != nil || !slices.Equal(now, whole[:left]) {
			t.Errorf("%d bytes are %d: %v", left, len(now), err)
		}
		store, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		store.Close()
		if kept, err := os.ReadFile(store.SetAside); err != nil || !slices.Equal(kept, whole[:left]) {
			t.Errorf("%d bytes: set aside at %q: %v", left, store.SetAside, err)
		}
	}
}
