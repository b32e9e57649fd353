package baseline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// document is the file as written: all that belongs to an entry stands inside it, under
// a digest of its own. So two branches that move different entries change different
// lines, and git merges them; both having moved the same one is a conflict in its digest.
type document struct {
	// Format and Version are added by page.JSON.
	Format  string   `json:"format,omitempty"`
	Version int      `json:"version,omitempty"`
	Entries []stored `json:"entries"`
}

// stored is an entry with what belongs to it.
type stored struct {
	packed
	Best     *packed      `json:"best,omitempty"`
	Gain     *packed      `json:"provisional,omitempty"`
	Accepted []Acceptance `json:"accepted,omitempty"`
	// Digest is over everything else in the entry.
	Digest string `json:"digest"`
}

// packed is an entry with its sources. Entries of the same sources each have them: what
// they shared would have to be merged.
type packed struct {
	Entry
	Archive string `json:"archive,omitempty"`
}

// seal returns the document of a file.
func (f *File) seal() (*document, error) {
	d := &document{Entries: []stored{}}
	for _, e := range f.Entries {
		s := stored{packed: packed{e, f.Sources[e.Source]}}
		if best, ok := f.FindBest(e.Key); ok {
			s.Best = &packed{best, f.Sources[best.Source]}
		}
		if gain, ok := f.FindGain(e.Key); ok {
			s.Gain = &packed{gain, f.Sources[gain.Source]}
		}
		for _, a := range f.Accepted {
			if a.Key == e.Key {
				s.Accepted = append(s.Accepted, a)
			}
		}
		var err error
		if s.Digest, err = s.digest(); err != nil {
			return nil, err
		}
		d.Entries = append(d.Entries, s)
	}
	return d, nil
}

// unseal returns the file of a document, or what is wrong with an entry.
func (d *document) unseal() (*File, string) {
	f := New()
	for _, s := range d.Entries {
		if digest, err := s.digest(); err != nil || digest != s.Digest {
			return nil,
				fmt.Sprintf("the digest of %s does not match its content: it was edited by hand or merged%s, or merge it by "+
					"pawl baseline merge", s.Key, restore)
		}
		if _, twice := f.Find(s.Key); twice {
			return nil, fmt.Sprintf("it has %s twice%s", s.Key, restore)
		}
		f.Entries = append(f.Entries, s.Entry)
		f.Keep(s.Source, s.Archive)
		if s.Best != nil {
			f.Best = append(f.Best, s.Best.Entry)
			f.Keep(s.Best.Source, s.Best.Archive)
		}
		if s.Gain != nil {
			f.Gains = append(f.Gains, s.Gain.Entry)
			f.Keep(s.Gain.Source, s.Gain.Archive)
		}
		f.Accepted = append(f.Accepted, s.Accepted...)
	}
	slices.SortStableFunc(f.Entries, func(a, b Entry) int { return a.compare(b.Key) })
	slices.SortStableFunc(f.Accepted, func(a, b Acceptance) int { return a.Time.Compare(b.Time) })
	return f, ""
}

func (s stored) digest() (string, error) {
	s.Digest = ""
	return digest(s)
}

// digest identifies a value by its JSON.
func digest(value any) (string, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(encoded)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// decode reads content that is JSON.
func decode(content []byte) (*File, Problem, string) {
	var d document
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		if number, ok := errors.AsType[*notFiniteError](err); ok {
			return nil, NotFinite, fmt.Sprintf("it holds %s, which is not a time%s", number.text, restore)
		}
		return nil, Edited, fmt.Sprintf("it was edited by hand: %v%s", err, restore)
	}
	f, mistake := d.unseal()
	if mistake != "" {
		return nil, Edited, mistake
	}
	return f, "", ""
}
