package ci

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"pawl/gate/reporting"
	"pawl/internal/escape"
)

// largestSummary is what GitHub shows of a step, in bytes.
const largestSummary = 1 << 20

// roomBelow is kept for a sentence below a page.
const roomBelow = 1 << 10

// Summary says what to show on the page of a run.
type Summary struct {
	// Report is a page that pawl wrote.
	Report string
	// Cost is what a machine that was woken for the run has taken; nil where none was.
	Cost *reporting.Cost
	Job  Job
}

// Publish appends to the file of the job's summary, or writes to w where there is none.
func (s Summary) Publish(w io.Writer) error {
	content, err := pageOf(s.Report)
	if err != nil {
		return err
	}
	content = append(content, s.artifact(filepath.Dir(s.Report))...)
	if s.Cost != nil {
		content = append(content, s.Cost.Markdown()+"\n\n"...)
	}
	if s.Job.Summary == "" {
		_, err := w.Write(content)
		return err
	}
	return Summarise(s.Job.Summary, string(content))
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
