package baseline

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"pawl/internal/page"
)

const (
	format = "pawl baseline"
	// version is what this program writes; it reads nothing newer.
	version = 3
)

// document is the file as written: each baseline stands under a digest of its own. So two
// branches that move different ones change different lines, and git merges them; both
// having moved the same one is a conflict in its digest.
type document struct {
	// Format and Version are added by page.JSON.
	Format  string     `json:"format,omitempty"`
	Version int        `json:"version,omitempty"`
	Entries []digested `json:"entries"`
}

type digested struct {
	Baseline
	// Digest is over everything else.
	Digest string `json:"digest"`
}

// Text seals the file and returns it as it is written.
func (f *File) Text() ([]byte, error) {
	d := &document{Entries: []digested{}}
	for _, b := range f.Entries {
		sum, err := digest(b)
		if err != nil {
			return nil, err
		}
		d.Entries = append(d.Entries, digested{b, sum})
	}
	var text bytes.Buffer
	err := page.JSON(&text, format, version, d)
	return text.Bytes(), err
}

func digest(b Baseline) (string, error) {
	encoded, err := json.Marshal(digested{Baseline: b})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(encoded)), nil
}

// ErrForeign says that a file is no baseline at all.
var ErrForeign = errors.New("this is not a pawl baseline")

const restore = "; nothing was changed. Restore it from version control"

// Parse reads the text of a file as Read does; the path is for messages.
func Parse(path string, content []byte) (*File, error) {
	f, err := parse(content)
	if err != nil {
		return nil, fmt.Errorf("baseline %s: %w", path, err)
	}
	return f, nil
}

func parse(content []byte) (*File, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(content, &head); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w%s", err, restore)
	}
	switch {
	case head.Format != format:
		return nil, fmt.Errorf("%w (its format is %q); name another file with --baseline", ErrForeign, head.Format)
	case head.Version > version:
		return nil, fmt.Errorf("it was written by a newer pawl (version %d, this one reads up to %d); update pawl. "+
			"Nothing was changed", head.Version, version)
	}
	var d document
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return nil, fmt.Errorf("it was edited by hand: %w%s", err, restore)
	}
	return d.verify()
}

// verify returns the file of a document.
func (d *document) verify() (*File, error) {
	f := New()
	for _, s := range d.Entries {
		if sum, err := digest(s.Baseline); err != nil || sum != s.Digest {
			return nil, fmt.Errorf("the digest of %s does not match its content: it was edited by hand or merged%s, or merge "+
				"it by pawl baseline merge", s.Key, restore)
		}
		if f.of(s.Key) != nil {
			return nil, fmt.Errorf("it has %s twice%s", s.Key, restore)
		}
		f.Entries = append(f.Entries, s.Baseline)
	}
	slices.SortStableFunc(f.Entries, func(a, b Baseline) int { return a.compare(b.Key) })
	return f, nil
}
