package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/studies"
)

// Entry is a line of the index: what came of the study in front of a kernel, workload and device (FrontStudies), and
// what to do about it.
type Entry struct {
	Study    int64     `json:"study"`
	Kernel   string    `json:"kernel,omitempty"`
	Workload string    `json:"workload,omitempty"`
	Backend  string    `json:"backend,omitempty"`
	Device   string    `json:"device,omitempty"`
	Created  time.Time `json:"created,omitzero"`
	// Folder has the study's pages: relative to the index, with slashes.
	Folder   string  `json:"folder,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Sentence string  `json:"sentence"`
	// Milliseconds is the confirmed time of the winner; nil where there is none.
	Milliseconds *float64 `json:"milliseconds,omitempty"`
	// Objective is what it is where that is not a time.
	Objective *page.Objective `json:"objective,omitempty"`
	// Speedup of the winner over the default and its 95 % interval; nil where there is
	// no winner, or it is the default.
	Speedup  *float64        `json:"speedup,omitempty"`
	Interval *stats.Interval `json:"interval,omitempty"`
	// Gate is what the gate said about the winner against what is run today; nil where
	// nobody asked.
	Gate *studies.Gating `json:"gate,omitempty"`
	// Suggests says that there is something to apply.
	Suggests bool `json:"suggests"`
	// Action is what to do, in a few words.
	Action string `json:"action"`
}

// Index returns the index of a database's studies.
func Index(ctx context.Context, store *studies.Store) ([]Entry, error) { return index(ctx, store, nil) }

// Damaged is the verdict on a study that cannot be read.
const Damaged Verdict = "damaged"

// index returns a line for each subject in a database, sorted by kernel, workload and
// folder, and then one for each study that is damaged. It uses the summary of a study that
// is known already, if it is not nil.
func index(ctx context.Context, store *studies.Store, known *Summary) ([]Entry, error) {
	all, err := store.List(ctx)
	if err != nil {
		return nil, err
	}
	lines, err := Lines(ctx, store)
	if err != nil {
		return nil, err
	}
	folders, entries := Folders(all), []Entry{}
	broken := slices.DeleteFunc(slices.Clone(all), func(s studies.Study) bool { return s.Damaged == "" })
	for _, study := range FrontStudies(all) {
		line, err := lines[study.ID], error(nil)
		switch {
		case known != nil && known.Study.ID == study.ID:
			line.Entry = newEntry(known, "")
		case !line.Known:
			if line, err = ReadLine(ctx, store, study.ID); ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		if err != nil { // another study's trouble must not keep this one's pages back
			study.Damaged = err.Error()
			broken = append(broken, study)
			continue
		}
		line.Folder = folders[study.ID]
		entries = append(entries, line.Entry)
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return slices.Compare([]string{a.Kernel, a.Workload, a.Folder}, []string{b.Kernel, b.Workload, b.Folder})
	})
	slices.SortFunc(broken, func(a, b studies.Study) int { return cmp.Compare(a.ID, b.ID) })
	for _, study := range broken {
		entries = append(entries, Entry{Study: study.ID, Verdict: Damaged, Sentence: study.Damaged, Action: "tune again"})
	}
	return entries, nil
}

// Time writes the confirmed time of the winner, or what else it is compared by.
func (e Entry) Time() string {
	if e.Milliseconds == nil {
		return page.Unknown
	}
	return e.Objective.Text(*e.Milliseconds)
}

func newEntry(s *Summary, folder string) Entry {
	e := Entry{
		Study: s.Study.ID, Kernel: s.Study.Kernel, Workload: s.Study.Workload, Backend: s.Study.Backend,
		Device:  s.Study.Environment.Device,
		Created: s.Study.Created, Folder: folder, Verdict: s.Advice.Verdict, Sentence: s.Advice.Sentence,
		Suggests: s.Suggestion != nil, Action: action(s), Gate: s.Gate,
	}
	if s.Winner != nil {
		e.Milliseconds, e.Objective = &s.Winner.Milliseconds, s.Study.Environment.Objective
	}
	if s.Evidence != nil {
		e.Speedup, e.Interval = &s.Evidence.Speedup, &s.Evidence.Interval
	}
	return e
}

// ToDo is the action, in words and the command that they end with; both are empty where there is nothing to do.
func (e Entry) ToDo() (words, command string) {
	if e.Action == nothingToDo || strings.HasPrefix(e.Action, applied) {
		return "", ""
	}
	return e.parts()
}

// parts are the words of the action, and the command that they end with, empty for none.
func (e Entry) parts() (words, command string) {
	words, command, found := strings.Cut(e.Action, "pawl ")
	if found {
		command = "pawl " + command
	}
	return words, command
}

const nothingToDo, applied = "nothing", "applied"

// Standing is the verdict, and whether somebody has followed it.
func (e Entry) Standing() string {
	if strings.HasPrefix(e.Action, applied) && e.Verdict.Usable() {
		return applied
	}
	return string(e.Verdict)
}

func action(s *Summary) string {
	if s.Study.Applied != "" {
		return applied + " " + s.Study.Applied
	}
	if after := gateAction(s); after != "" {
		return after
	}
	switch s.Advice.Verdict {
	case Promising:
		if s.MayShareFault() {
			return cmp.Or(s.fuzzing(s.Winner.Point, "", ""), "read on the page what failed")
		}
		return s.Confirming()
	case Apply, Consider:
		if s.Study.Backend == studies.Replay {
			return nothingToDo // a record was searched, and nothing was measured here
		}
		if s.Suggestion == nil {
			return "read the page: there is nothing that could be applied as it is"
		}
		if payers := s.Across.Of(AcrossSlower, AcrossFails); len(payers) > 0 {
			return fmt.Sprintf("read the page: %s would pay for it", strings.Join(payers, ", "))
		}
		return "read the page, then " + s.applying()
	case Unproven:
		return s.Confirming() // with more time
	case Keep:
		if s.open() {
			return s.Confirming()
		}
	case Unconfirmed, Nothing:
		if t := s.wrongTrial(); t != nil {
			return cmp.Or(s.fuzzing(t.Point, "", ""), "read on the page what failed")
		}
		if s.Winner == nil && (s.Default != nil || s.Search.Failed == 0) {
			return s.Confirming()
		}
		return "read on the page what failed"
	}
	return nothingToDo
}

var indexPage = page.Markdown(`# Suggestions

Each line is the newest study of a kernel, a workload and a device, a confirmed one if there is one, `+
	"of the sources that were tuned last; {{code .Command}} writes the pages of another one.\n\n{{table .Grid}}", nil)

// IndexMarkdown writes the index for people.
func IndexMarkdown(w io.Writer, place studies.Place, entries []Entry) error {
	return indexPage.Execute(w, struct {
		Command string
		Grid    *page.Grid
	}{place.Pawl("report", "STUDY"), &page.Grid{
		Head: []string{"study", "kernel and workload", "device", "verdict", "speedup over the default",
			"against what you run today", "what to do"},
		Rows: collect.Each(entries, Entry.row),
	}})
}

func (e Entry) row() []string {
	if e.Verdict == Damaged {
		return []string{fmt.Sprint(e.Study), page.Unknown, page.Unknown, string(e.Verdict), page.Unknown, page.Unknown,
			text(e.Sentence)}
	}
	link := fmt.Sprintf("[%d](%s)", e.Study, path.Join(e.Folder, MarkdownName))
	words, command := e.parts()
	return []string{link, text(e.Kernel) + ", " + text(e.Workload), text(e.Device), e.Standing(), e.speedup(),
		text(e.Against()), text(words) + code(command)}
}

// Publish writes the pages of a study into its own folder below a folder, and the
// index of all studies into that. It returns the facts that were written.
func Publish(ctx context.Context, store *studies.Store, out string, id int64) (*Summary, Files, error) {
	summary, err := Read(ctx, store, id)
	if err != nil {
		return nil, Files{}, err
	}
	changed, err := publish(ctx, store, out, summary)
	if err != nil {
		return summary, changed,
			fmt.Errorf("%w\nThe study itself is recorded: %s writes the report again", err, store.Place.Pawl("report", id))
	}
	return summary, changed, nil
}

func publish(ctx context.Context, store *studies.Store, out string, s *Summary) (changed Files, err error) {
	all, err := store.List(ctx)
	if err != nil {
		return changed, err
	}
	folder := studyFolder(out, all, s.Study.ID)
	if changed, err = WriteAll(folder, s); err != nil {
		return changed, err
	}
	if _, err := removePages(filepath.Join(folder, asideFolder(s.Study.ID)), s.Study); err != nil {
		return changed, err // what it had before it was in front
	}
	if before := predecessor(out, all, s.Study); before != 0 {
		// Its page was just written over. Trouble with it must not keep this one's back.
		if older, err := Read(ctx, store, before); err == nil {
			if err := changed.writeAll(studyFolder(out, all, before), older); err != nil {
				return changed, err
			}
		}
	}
	written, err := writeIndex(ctx, store, out, all, s)
	changed.Written = append(changed.Written, written...)
	return changed, err
}

func (f *Files) writeAll(folder string, s *Summary) error {
	files, err := WriteAll(folder, s)
	f.Written = append(f.Written, files.Written...)
	return err
}

// Forget deletes a study with its pages. What it kept behind comes to the front.
func Forget(ctx context.Context, store *studies.Store, out string, id int64) (changed Files, err error) {
	all, err := store.List(ctx)
	if err != nil {
		return changed, err
	}
	at := slices.IndexFunc(all, func(s studies.Study) bool { return s.ID == id })
	if at < 0 {
		return changed, store.NoStudy(id)
	}
	study := all[at]
	if err := store.Delete(ctx, id); err != nil {
		return changed, err
	}
	left := slices.Delete(slices.Clone(all), at, at+1)
	if study.Damaged == "" {
		if changed.Removed, err = removePages(studyFolder(out, all, id), study); err != nil {
			return changed, err
		}
		if next, found := FrontStudies(left)[SubjectOf(study)]; found {
			_, files, err := Publish(ctx, store, out, next.ID)
			changed.Written = files.Written
			return changed, err
		}
	}
	changed.Written, err = writeIndex(ctx, store, out, left, nil)
	return changed, err
}

// PublishAll writes the pages of every study that is not damaged, and the index.
func PublishAll(ctx context.Context, store *studies.Store, out string) (changed Files, err error) {
	all, err := store.List(ctx)
	if err != nil {
		return changed, err
	}
	for _, study := range slices.Backward(all) {
		if study.Damaged != "" {
			continue
		}
		s, err := Read(ctx, store, study.ID)
		if errors.As(err, new(*studies.DamagedError)) {
			continue // the index names it
		}
		if err == nil {
			err = changed.writeAll(studyFolder(out, all, study.ID), s)
		}
		if err != nil {
			return changed, err
		}
	}
	written, err := writeIndex(ctx, store, out, all, nil)
	changed.Written = append(changed.Written, written...)
	return changed, err
}

func studyFolder(out string, all []studies.Study, id int64) string {
	return filepath.Join(out, filepath.FromSlash(Folders(all)[id]))
}

// writeIndex writes the index of all studies, with the summary of one that is known already.
func writeIndex(ctx context.Context, store *studies.Store, out string, all []studies.Study,
	known *Summary) ([]string, error) {
	entries, err := index(ctx, store, known)
	if err != nil {
		return nil, err
	}
	others := otherPages(out, all)
	written, err := page.WriteFiles(out,
		page.File{Name: MarkdownName, Render: func(w io.Writer) error { return IndexMarkdown(w, store.Place, entries) }},
		page.File{Name: JSONName, Render: func(w io.Writer) error {
			return page.JSON(w, "pawl suggestions", 1, page.List("studies", entries))
		}},
		page.File{Name: IndexHTMLName, Render: func(w io.Writer) error { return IndexHTML(w, store.Place, entries, others) }})
	if err != nil {
		return written, fmt.Errorf("the index: %w", err)
	}
	return written, nil
}
