package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"pawl/internal/stats"
	"pawl/space"
)

// Format and Version identify our own files. A reader refuses other versions:
// a number that is read wrongly is worse than one that is not read.
const (
	Format  = "pawl-record"
	Version = 2
)

// ownFile is the layout of version 2; version 1 had no resources. The format stands first, so that a reader
// knows what it has before it reads on.
type ownFile struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	*Record
	Entries []ownEntry `json:"entries"`
}

type ownEntry struct {
	Entry
	// Compile is milliseconds, 0 or absent when unknown.
	Compile float64 `json:"compile,omitempty"`
}

func readOwn(data []byte) (*Record, error) {
	var version struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, err
	}
	if version.Format != Format {
		return nil, fmt.Errorf("unknown format %q, expected %q", version.Format, Format)
	}
	if version.Version < 1 || version.Version > Version {
		return nil, fmt.Errorf("version %d of %s is not known here, only 1 to %d", version.Version, Format, Version)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	file := ownFile{Record: &Record{DefaultKnown: true}}
	if err := decoder.Decode(&file); err != nil {
		return nil, err
	}
	for _, p := range file.Params {
		if p.Default == (space.Value{}) {
			return nil, fmt.Errorf("parameter %s: no default", p.Name)
		}
	}
	for i, e := range file.Entries {
		e.Entry.Compile = time.Duration(e.Compile * float64(time.Millisecond))
		e.Spent = e.Entry.Compile
		for _, sample := range e.Samples {
			e.Spent += time.Duration(sample * float64(time.Millisecond))
		}
		if len(e.Samples) > 0 {
			e.Milliseconds = stats.Median(e.Samples)
		}
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		file.Record.Entries = append(file.Record.Entries, e.Entry)
	}
	return file.Record, nil
}

// Write writes a record in our own format, one entry to a line. It refuses a
// record that New would refuse, and with it every number that JSON cannot hold.
func (r *Record) Write(w io.Writer) error {
	if _, err := New(r); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	file := ownFile{Format: Format, Version: Version, Record: r, Entries: []ownEntry{}}
	head, err := json.Marshal(file)
	if err != nil {
		return fmt.Errorf("writing a record: %w", err)
	}
	var out bytes.Buffer
	out.Write(bytes.TrimSuffix(head, []byte("]}"))) // the empty list of entries
	for i, e := range r.Entries {
		line, err := json.Marshal(ownEntry{Entry: e, Compile: float64(e.Compile) / float64(time.Millisecond)})
		if err != nil {
			return fmt.Errorf("writing a record: point %s: %w", e.Point, err)
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(line)
	}
	out.WriteString("\n]}\n")
	if _, err := out.WriteTo(w); err != nil {
		return fmt.Errorf("writing a record: %w", err)
	}
	return nil
}
