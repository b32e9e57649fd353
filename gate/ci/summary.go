package ci

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"pawl/gate/reporting"
	"pawl/internal/escape"
)

// largestSummary is what GitHub shows of a step, in bytes.
const largestSummary = 1 << 20

// roomBelow is kept for a sentence below a page.
const roomBelow = 1 << 10

// Summary says what to show on the page of a run.
type Summary struct {
	// Report is the JSON of a gate or of the suggestions, or a page that pawl wrote. Empty means the first of
	// the usual ones that is there.
	Report string
	// Cost is what a machine that was woken for the run has taken, for a page that does not
	// say so; nil where none was.
	Cost *reporting.Cost
	Job  Job
}

// usual are the reports of a gate and of a search.
var usual = []string{filepath.Join("results", reporting.JSONName), filepath.Join("tuning", "suggestions.md")}

// Publish appends to the file of the job's summary, or writes to w where there is none.
// It returns which report that was; fs.ErrNotExist where there is none.
func (s Summary) Publish(w io.Writer) (path string, err error) {
	path, content, err := s.render()
	if err != nil {
		return path, err
	}
	if s.Job.Summary == "" {
		_, err := w.Write(content)
		return path, err
	}
	return path, Summarise(s.Job.Summary, string(content))
}

// render finds the report and writes it as a page.
func (s Summary) render() (string, []byte, error) {
	paths := []string{s.Report}
	if s.Report == "" {
		paths = usual
	}
	for _, path := range paths {
		content, err := summaryOf(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if filepath.Ext(path) != ".json" { // a report of the gate has its own, and no links
			content = append(content, s.artifact(filepath.Dir(path))...)
			if s.Cost != nil {
				content = append(content, s.Cost.Markdown()+"\n\n"...)
			}
		}
		return path, content, err
	}
	return "", nil, fmt.Errorf("no report: %w", &fs.PathError{Op: "open", Path: paths[0], Err: fs.ErrNotExist})
}

// artifact says where the pages and the studies are that a page names.
func (s Summary) artifact(folder string) string {
	if s.Job.Run == "" {
		return ""
	}
	return fmt.Sprintf("The pages and the studies are in the artifact %[1]s of this run: `gh run download %[2]s "+
		"--name %[1]s --dir %[1]s`; there the commands above work.\n\n", escape.FileName(filepath.Base(folder)),
		escape.FileName(s.Job.Run))
}

// relativeLink is a link to a file beside a page, which leads nowhere on the page of a run.
var relativeLink = regexp.MustCompile(`\[([^\]]*)\]\(([^):]*)\)`)

func summaryOf(path string) ([]byte, error) {
	if filepath.Ext(path) != ".json" {
		return pageOf(path)
	}
	if filepath.Base(path) == indexName { // the same for people stands beside it
		if _, err := readIndex(path); err != nil {
			return nil, err
		}
		return pageOf(strings.TrimSuffix(path, ".json") + ".md")
	}
	r, err := reporting.Read(path)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = reporting.StepSummary(&text, r)
	return text.Bytes(), err
}

// pageOf reads a page that pawl wrote, and cuts it at the end of a line where GitHub would
// show nothing of it.
func pageOf(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	content = relativeLink.ReplaceAll(content, []byte("$1 (`$2`)"))
	const note = "\n\nThe rest does not fit here.\n"
	if most := largestSummary - roomBelow - len(note); len(content) > most {
		content = content[:most]
		content = append(content[:bytes.LastIndexByte(content, '\n')+1:most], note...)
	}
	return append(content, '\n'), nil
}
