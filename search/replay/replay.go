// Package replay answers points from a record instead of a device: spaces that
// were measured exhaustively once serve to measure samplers for ever.
//
//  1. Read recognizes the format of a file, plain or gzip: pawl's own record,
//     a Kernel Tuner cache or a T4 result file. See Record.
//  2. New checks a record completely and builds its space and pool: exactly
//     the recorded points, failed ones included, are valid.
//  3. Evaluator plays the recorded samples back. A point that was never
//     recorded is an error, never a guess.
//
// Foreign files are read with tolerance where their writers are known to be
// sloppy (a cache that was never closed) and strictly everywhere else. Our own
// format is strict: an unknown field, a missing sample or a number that is not
// finite is an error.
package replay

import (
	"fmt"
	"math"
	"time"

	"pawl/objective"
	"pawl/space"
)

// Record is what was measured of one kernel on one machine.
type Record struct {
	Kernel   string `json:"kernel"`
	Workload string `json:"workload"`
	// Environment describes the machine. Foreign files know the device only.
	Environment objective.Environment `json:"environment"`
	Params      []space.Param         `json:"params"`
	// DefaultKnown says that the params' defaults are the kernel's own. Foreign
	// files have none; there the defaults are those of the first entry that
	// worked.
	DefaultKnown bool    `json:"-"`
	Entries      []Entry `json:"-"`
}

// Entry is one recorded point.
type Entry struct {
	Point space.Point `json:"point"`
	// Failure is nil for a point that has a time.
	Failure *objective.Failure `json:"failure,omitempty"`
	// Samples are raw times in milliseconds, in the order taken; none after a
	// failure, and a single one where the file has only a summary.
	Samples []float64 `json:"samples,omitempty"`
	// Milliseconds is the time that the file's author reports for the point:
	// the mean in foreign files, the median of the samples in ours. It means
	// nothing after a failure.
	Milliseconds float64 `json:"-"`
	// Resources is what the compiler said that the point needs; nil if unknown.
	Resources *objective.Resources `json:"resources,omitempty"`
	// Compile is how long compiling took, 0 when unknown.
	Compile time.Duration `json:"-"`
	// Spent is how long compiling, checking and measuring took together, as far as the file says; 0 when unknown.
	Spent time.Duration `json:"-"`
}

// OK reports whether the entry has a time.
func (e Entry) OK() bool { return e.Failure == nil }

// Space is a recorded space, ready to be searched. It is immutable and safe for concurrent use.
type Space struct {
	record  *Record
	space   *space.Space
	pool    *space.Pool
	entries []Entry // by position in the pool
	optimum int
}

// New builds the space of a record. It fails when a point does not belong to
// the params, is listed twice or has an impossible time, and when no point
// works.
func New(record *Record) (*Space, error) {
	s := &Space{record: record, entries: make([]Entry, len(record.Entries)), optimum: -1}
	if err := s.build(); err != nil {
		return nil, fmt.Errorf("record of %s: %w", record.Kernel, err)
	}
	return s, nil
}

func (s *Space) build() (err error) {
	if s.space, err = space.New(s.record.Params, nil, nil); err != nil {
		return err
	}
	points := make([]space.Point, len(s.entries))
	for i, e := range s.record.Entries {
		points[i] = e.Point
		if err := e.check(); err != nil {
			return err
		}
	}
	if s.pool, err = s.space.PoolOf(points); err != nil {
		return err
	}
	for _, e := range s.record.Entries {
		index, err := s.pool.Index(e.Point)
		if err != nil {
			return err
		}
		if s.entries[index].Point == e.Point {
			return fmt.Errorf("point %s is recorded twice", e.Point)
		}
		s.entries[index] = e
	}
	for i, e := range s.entries {
		if e.OK() && (s.optimum < 0 || e.Milliseconds < s.entries[s.optimum].Milliseconds) {
			s.optimum = i
		}
	}
	if s.optimum < 0 {
		return fmt.Errorf("none of %d points works", len(points))
	}
	return nil
}

func (e Entry) check() error {
	if e.Failure != nil {
		if e.Failure.Stage == "" || e.Failure.Reason == "" {
			return fmt.Errorf("point %s: a failure without a stage or a reason", e.Point)
		}
		if len(e.Samples) > 0 {
			return fmt.Errorf("point %s: a failure with samples", e.Point)
		}
		return nil
	}
	if len(e.Samples) == 0 {
		return fmt.Errorf("point %s: neither samples nor a failure", e.Point)
	}
	for _, sample := range append([]float64{e.Milliseconds}, e.Samples...) {
		if !(sample > 0) || math.IsInf(sample, 0) {
			return fmt.Errorf("point %s: %v is not a time", e.Point, sample)
		}
	}
	return nil
}

// Record returns what the space was built from. The caller must not modify it.
func (s *Space) Record() *Record { return s.record }

// Space returns the parameters, without constraints: the pool is the list.
func (s *Space) Space() *space.Space { return s.space }

// Pool returns the recorded points.
func (s *Space) Pool() *space.Pool { return s.pool }

// Entry returns what was recorded of the point at a position of the pool. The caller must not modify its samples.
func (s *Space) Entry(index int) Entry { return s.entries[index] }

// Optimum returns the fastest entry.
func (s *Space) Optimum() Entry { return s.entries[s.optimum] }
