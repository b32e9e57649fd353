package studies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/objective"
	"pawl/search/trial"
	"pawl/space"
)

// The backends of studies that no device measures: somebody else does for pawl ask, and recorded times answer a replay.
const (
	Ask    = "ask"
	Replay = "replay"
)

// Study is the head of a study: what was tuned, where and how.
type Study struct {
	ID int64 `json:"id"`
	Subject
	Sampler string `json:"sampler"`
	Seed    uint64 `json:"seed"`
	// Workloads are all that the kernel had.
	Workloads []WorkloadFacts `json:"workloads,omitempty"`
	// Fingerprint identifies the space, Source the kernel's files.
	Fingerprint string                `json:"fingerprint"`
	Source      string                `json:"source"`
	Space       SpaceFacts            `json:"space"`
	Work        Work                  `json:"work"`
	Environment objective.Environment `json:"environment"`
	// First are the points taken over from earlier studies.
	First   []space.Point `json:"first,omitempty"`
	Options Options       `json:"options,omitzero"`
	// Command reproduces the study.
	Command string    `json:"command"`
	Created time.Time `json:"created"`
	trial.Conclusion
	// Roofline is the best that the device can do.
	Roofline objective.Roofline `json:"roofline"`
	Annotations
	Reading
}

// Reading is what the store says of a study beside what was recorded.
type Reading struct {
	// Rounds counts the rounds of the confirmation; List alone fills it in.
	Rounds int `json:"-"`
	// Place is where it was read from.
	Place Place `json:"-"`
	// Damaged says what is wrong with a study that cannot be read; nothing else but its number is known then.
	Damaged string `json:"damaged,omitempty"`
}

// Subject is what was tuned.
type Subject struct {
	// Kernel is the kernel's name and Origin how the user named it.
	Kernel   string `json:"kernel"`
	Origin   string `json:"origin"`
	Workload string `json:"workload"`
	Dims     string `json:"dims"`
	Backend  string `json:"backend"`
}

// Annotations are what became of a study since.
type Annotations struct {
	// Note is what a person has written about it, Applied when its winner was and on which branch, and Rivals what
	// programs took, in milliseconds, that were measured beside that.
	Note    string             `json:"note,omitempty"`
	Applied string             `json:"applied,omitempty"`
	Rivals  map[string]float64 `json:"rivals,omitempty"`
}

// Of reports whether the study can be read and is of a kernel's workload as they are now: the
// same sizes, compared by the same quantity.
func (s Study) Of(k *kernels.Kernel, w kernels.Workload) bool {
	return s.Damaged == "" && s.Kernel == k.Name && s.Backend == k.Backend && s.Workload == w.Name &&
		s.Dims == w.Dims.String() &&
		s.Environment.Objective.First() == objective.ObjectiveOf(k).First()
}

// SpaceFacts describes a space well enough to report on it later, without the kernel's folder.
type SpaceFacts struct {
	Params      []ParamFacts `json:"params"`
	Constraints []string     `json:"constraints"`
	// Product counts the points before constraints, Valid those that satisfy
	// them; Sampled says that Valid is only what a sample holds.
	Product float64 `json:"product"`
	Valid   int     `json:"valid"`
	// Wide counts them with the values that only --wide searches; 0 where there are none.
	Wide    float64 `json:"wide,omitempty"`
	Sampled bool    `json:"sampled,omitempty"`
	// Infeasible counts the valid points that the machine's limits rule out, by the limit. The search leaves them out.
	Infeasible map[string]int `json:"infeasible,omitempty"`
}

// Removed returns the number of infeasible points.
func (f SpaceFacts) Removed() int {
	total := 0
	for _, n := range f.Infeasible {
		total += n
	}
	return total
}

// ParamFacts is one parameter, its values in canonical text.
type ParamFacts struct {
	Name    string   `json:"name"`
	Values  []string `json:"values"`
	Default string   `json:"default"`
	Ordered bool     `json:"ordered"`
}

// Work is what one launch does, 0 where the manifest does not say.
type Work struct {
	Flops float64 `json:"flops,omitempty"`
	Bytes float64 `json:"bytes,omitempty"`
	// Memory is what the arguments take on the device, in bytes; 0 in a study that is older.
	Memory int64 `json:"memory,omitempty"`
}

// NewSpaceFacts describes a pool and its space.
func NewSpaceFacts(pool *space.Pool) SpaceFacts {
	s := pool.Space()
	facts := SpaceFacts{Constraints: s.Constraints(), Product: s.Product(), Valid: pool.Len(), Sampled: !pool.Complete()}
	if s.Wide() > facts.Product {
		facts.Wide = s.Wide()
	}
	for _, p := range s.Params() {
		values := collect.Each(p.Values, space.Value.String)
		facts.Params = append(facts.Params, ParamFacts{p.Name, values, p.Default.String(), p.Ordered})
	}
	return facts
}

// Open returns the space, without its constraints.
func (f SpaceFacts) Open() (*space.Space, error) {
	var params []space.Param
	for _, p := range f.Params {
		param := space.Param{Name: p.Name, Ordered: p.Ordered}
		for _, text := range append([]string{p.Default}, p.Values...) {
			point, err := space.ParsePoint(p.Name + "=" + text)
			if err != nil {
				return nil, err
			}
			value, _ := point.Get(p.Name)
			param.Values = append(param.Values, value)
		}
		param.Default, param.Values = param.Values[0], param.Values[1:]
		params = append(params, param)
	}
	return space.New(params, nil, nil)
}

// columns are all that a row holds of a study, its number first.
func (study *Study) columns() columns {
	return append(columns{
		{"id", &study.ID}, {"kernel", &study.Kernel}, {"origin", &study.Origin}, {"workload", &study.Workload},
		{"dims", &study.Dims},
		{"backend", &study.Backend}, {"sampler", &study.Sampler}, {"seed", asSigned{&study.Seed}},
		{"fingerprint", &study.Fingerprint},
		{"source", &study.Source}, {"space", asJSON{&study.Space}}, {"work", asJSON{&study.Work}},
		{"environment", asJSON{&study.Environment}},
		{"first", asJSON{&study.First}}, {"options", asJSON{&study.Options}}, {"command", &study.Command},
		{"created", asText{&study.Created}},
		{"roofline", asJSON{&study.Roofline}}, {"workloads", asJSON{&study.Workloads}},
		{"note", &study.Note}, {"applied", &study.Applied}, {"rivals", asJSON{&study.Rivals}},
	}, concluded(&study.Conclusion)...)
}

func concluded(c *trial.Conclusion) columns {
	return columns{{"ended", &c.Ended}, {"elapsed_ns", &c.Elapsed}, {"regret", asJSON{&c.Regret}},
		{"spending", asJSON{&c.Spending}}, {"dead", asJSON{&c.Dead}}}
}

// Create adds a study and returns its number.
func (s *Store) Create(ctx context.Context, study Study) (id int64, err error) {
	study.Created = study.Created.UTC().Truncate(time.Second)
	c := study.columns()[1:]
	err = s.change(ctx, 0, func(tx session) (*changed, error) {
		if err := tx.queryRow(ctx, []any{&id}, c.insertion("studies")+" RETURNING id", c.values()...); err != nil {
			return nil, err
		}
		row := rowOf("studies", id)
		stored, err := tx.sealed(append(slices.Clone(c), row.key...))
		if err != nil {
			return nil, err
		}
		_, err = tx.exec(ctx, "UPDATE studies SET digest = ?"+row.where(), stored.get(digestColumn), id)
		return &changed{row: row, after: stored}, err
	})
	return id, doing(err, "creating a study")
}

// Continue records that a study goes on, perhaps with other goals.
func (s *Store) Continue(ctx context.Context, study Study) error {
	changed := columns{{"options", asJSON{&study.Options}}, {"command", &study.Command}}
	if len(study.Workloads) > 0 {
		changed = append(changed, column{"workloads", asJSON{&study.Workloads}})
	}
	_, err := s.update(ctx, study.ID, rowOf("studies", study.ID), changed, nil)
	return doing(err, "resuming study %d", study.ID)
}

// Finish records how a run of a study ended.
func (s *Store) Finish(ctx context.Context, id int64, end trial.Conclusion) error {
	_, err := s.update(ctx, id, rowOf("studies", id), concluded(&end), nil)
	return doing(err, "finishing study %d", id)
}

// Annotate records what became of a study since, in the place of what was recorded before.
func (s *Store) Annotate(ctx context.Context, id int64, a Annotations) error {
	changed := columns{{"note", &a.Note}, {"applied", &a.Applied}, {"rivals", asJSON{&a.Rivals}}}
	_, err := s.update(ctx, id, rowOf("studies", id), changed, nil)
	return doing(err, "annotating study %d", id)
}

// Delete removes a study and everything that is recorded of it. One that is running now wraps ErrBusy.
func (s *Store) Delete(ctx context.Context, id int64) error {
	unlock, err := s.Lock(id)
	if err != nil {
		return err
	}
	defer unlock()
	err = s.transact(ctx, id, func(tx session) error {
		if _, err := tx.exec(ctx, "DELETE FROM summaries WHERE study = ?", id); err != nil {
			return err
		}
		for _, table := range slices.Backward(digestedTables) {
			if _, err := tx.exec(ctx, "DELETE FROM "+table.name+" WHERE "+table.key[0]+" = ?", id); err != nil {
				return err
			}
		}
		return nil
	})
	return doing(err, "deleting study %d", id)
}

// ErrNoStudy says that there is no such study.
var ErrNoStudy = errors.New("no such study")

// NoStudy says that there is no study of a number.
func (s *Store) NoStudy(id int64) error {
	return fmt.Errorf("%w: %d in %s; see %s", ErrNoStudy, id, s.path, s.Place.Pawl("studies", "list"))
}

// Study returns one study's head. One that is not what was recorded is a *DamagedError.
func (s *Store) Study(ctx context.Context, id int64) (study Study, err error) {
	found := false
	err = s.read(ctx, func() error {
		found = false
		return s.heads(ctx, func(one Study, err error) error {
			study, found = one, true
			return err
		}, "WHERE id = ?", id)
	})
	if err == nil && !found {
		var kept *summary
		if kept, err = readSummary(ctx, s.db, id, ""); err == nil && kept == nil {
			return Study{}, s.NoStudy(id)
		}
		if err == nil {
			err = s.damagedStudy(id, headMissing)
		}
	}
	if err != nil {
		return Study{}, fmt.Errorf("reading study %d: %w", id, err)
	}
	return study, nil
}

const headMissing = "its head is missing"

// Newest returns the number of the newest study, 0 for none.
func (s *Store) Newest(ctx context.Context) (id int64, err error) {
	err = s.read(ctx, func() error {
		return s.db.queryRow(ctx, []any{&id}, "SELECT COALESCE(MAX(id), 0) FROM studies")
	})
	return id, doing(err, "reading the number of the newest study")
}

// heads reads the heads of studies, each compared with its digest: one that cannot be read is an error of it. An error
// that do returns ends it.
func (s *Store) heads(ctx context.Context, do func(study Study, err error) error, rest string, more ...any) error {
	err := eachRow(ctx, s.db, func(stored columns) error {
		study := Study{Reading: Reading{Place: s.Place}}
		var seen tableTally
		if !seen.add(stored) {
			study.ID, _ = stored.get("id").(int64)
			return do(study, s.changedRows(study.ID, []string{tableCalled("studies").describe(stored)}))
		}
		if err := study.columns().assign(stored); err != nil {
			return do(study, s.damagedStudy(study.ID, err.Error()))
		}
		return do(study, nil)
	}, "SELECT * FROM studies "+rest, more...)
	return err
}

// ErrEnough ends what goes through studies one after the other, where a caller returns it.
var ErrEnough = errors.New("enough")

// EachLike goes through the studies of a kernel on a backend, newest first, reading one after the other. Those that are
// damaged are passed over.
func (s *Store) EachLike(ctx context.Context, kernel, backend string, do func(Study) error) error {
	err := s.heads(ctx, func(study Study, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a list names it
		}
		return do(study)
	}, "WHERE kernel = ? AND backend = ? ORDER BY id DESC", kernel, backend)
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return doing(err, "going through the studies of %s", kernel)
}

// Revision is another one when anything in the database has changed, empty where that is not known.
func (s *Store) Revision(ctx context.Context) (revision string, err error) {
	err = s.read(ctx, func() (err error) { revision, err = s.engine.revision(ctx); return err })
	return revision, doing(err, "looking whether %s has changed", s.path)
}

// listed are the heads of all studies as they were read last.
type listed struct {
	mu       sync.Mutex
	revision string // empty for none
	all      []Study
	// of is what each was read of: the sum of its digest.
	of map[int64]tableTally
}

// List returns all studies, newest first; those that are damaged by their number. What was read before and has not
// changed since is not read again.
func (s *Store) List(ctx context.Context) ([]Study, error) {
	l := &s.listed
	l.mu.Lock()
	defer l.mu.Unlock()
	err := s.read(ctx, func() error {
		revision, err := s.engine.revision(ctx)
		if err != nil || revision != "" && revision == l.revision {
			return err
		}
		if err := l.refresh(ctx, s); err != nil {
			return err
		}
		l.revision = revision
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing studies: %w", err)
	}
	all := slices.Clone(l.all)
	for i := range all {
		if all[i].Damaged == "" {
			all[i].Place = s.Place
		}
	}
	return all, nil
}

func (l *listed) refresh(ctx context.Context, s *Store) error {
	kept, err := readSummaries(ctx, s.db, 0)
	if err != nil {
		return err
	}
	ids := map[int64]bool{}
	for id := range kept {
		ids[id] = true
	}
	err = s.db.query(ctx, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids[id] = true
		return err
	}, "SELECT id FROM studies")
	if err != nil && !damaged(err) {
		return err
	}
	known, of := map[int64]Study{}, map[int64]tableTally{}
	for _, study := range l.all {
		if one, there := kept[study.ID]; there && study.Damaged == "" && l.of[study.ID] == one.tally.Tables["studies"] {
			known[study.ID] = study
		}
	}
	var missing []int64
	for id := range ids {
		if _, there := known[id]; !there {
			missing = append(missing, id)
		}
	}
	take := func(study Study, err error) error {
		if err != nil {
			study = Study{ID: study.ID, Reading: Reading{Damaged: err.Error()}}
		}
		known[study.ID] = study
		return nil
	}
	if len(missing) > 0 {
		err := s.heads(ctx, take, "WHERE id BETWEEN ? AND ?", slices.Min(missing), slices.Max(missing))
		if err != nil && !damaged(err) {
			return err
		}
	}
	l.all = l.all[:0:0]
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(ids))) {
		study, there := known[id]
		if !there { // by itself: a page that cannot be read must not hide others
			one, err := s.Study(ctx, id)
			if err != nil && !damaged(err) && !errors.As(err, new(*DamagedError)) {
				return err
			}
			one.ID = id
			take(one, err) //nolint:errcheck // it returns none
			study = known[id]
		}
		if one, there := kept[id]; there {
			study.Rounds, of[id] = one.tally.Confirmed, one.tally.Tables["studies"]
		}
		l.all = append(l.all, study)
	}
	l.of = of
	return nil
}
