package replay

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/objective"
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
	Format      string                `json:"format"`
	Version     int                   `json:"version"`
	Kernel      string                `json:"kernel"`
	Workload    string                `json:"workload"`
	Environment objective.Environment `json:"environment"`
	Params      []ownParam            `json:"params"`
	Entries     []ownEntry            `json:"entries"`
}

// ownParam is a space.Param in JSON.
type ownParam struct {
	Name    string        `json:"name"`
	Values  []space.Value `json:"values"`
	Default space.Value   `json:"default"`
	Ordered bool          `json:"ordered"`
}

type ownEntry struct {
	// Point is the canonical text.
	Point string `json:"point"`
	// Samples are milliseconds.
	Samples []float64          `json:"samples,omitempty"`
	Failure *objective.Failure `json:"failure,omitempty"`
	// Compile is milliseconds, 0 or absent when unknown.
	Compile float64 `json:"compile,omitempty"`
	// Resources is what the compiler said that the point needs.
	Resources *objective.Resources `json:"resources,omitempty"`
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
	var file ownFile
	if err := decoder.Decode(&file); err != nil {
		return nil, err
	}
	r := &Record{Kernel: file.Kernel, Workload: file.Workload, Environment: file.Environment, DefaultKnown: true}
	for _, p := range file.Params {
		if p.Default == (space.Value{}) {
			return nil, fmt.Errorf("parameter %s: no default", p.Name)
		}
		r.Params = append(r.Params, space.Param(p))
	}
	for i, e := range file.Entries {
		entry, err := e.entry()
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		r.Entries = append(r.Entries, entry)
	}
	return r, nil
}

func (e ownEntry) entry() (Entry, error) {
	point, err := space.ParsePoint(e.Point)
	if err != nil {
		return Entry{}, err
	}
	entry := Entry{
		Point: point, Failure: e.Failure, Samples: e.Samples, Resources: e.Resources,
		Compile: time.Duration(e.Compile * float64(time.Millisecond)),
	}
	entry.Spent = entry.Compile
	for _, sample := range e.Samples {
		entry.Spent += time.Duration(sample * float64(time.Millisecond))
	}
	if len(e.Samples) > 0 {
		entry.Milliseconds = stats.Median(e.Samples)
	}
	return entry, entry.check()
}

// Write writes a record in our own format, one entry to a line. It refuses a
// record that New would refuse, and with it every number that JSON cannot hold.
func (r *Record) Write(w io.Writer) error {
	if _, err := New(r); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	file := ownFile{
		Format: Format, Version: Version,
		Kernel: r.Kernel, Workload: r.Workload, Environment: r.Environment,
		Entries: []ownEntry{},
	}
	for _, p := range r.Params {
		file.Params = append(file.Params, ownParam(p))
	}
	head, err := json.Marshal(file)
	if err != nil {
		return fmt.Errorf("writing a record: %w", err)
	}
	var out bytes.Buffer
	out.Write(bytes.TrimSuffix(head, []byte("]}"))) // the empty list of entries
	for i, e := range r.Entries {
		line, err := json.Marshal(ownEntry{
			Point: e.Point.String(), Samples: e.Samples, Failure: e.Failure, Resources: e.Resources,
			Compile: float64(e.Compile) / float64(time.Millisecond),
		})
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

// WriteFile writes a record to a file, compressed when its name ends in .gz.
func (r *Record) WriteFile(path string) error {
	return page.WriteFile(path, func(w io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return r.Write(w)
		}
		zipped := gzip.NewWriter(w)
		return errors.Join(r.Write(zipped), zipped.Close())
	})
}
