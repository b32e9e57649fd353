package studies

import (
	"context"
	"encoding/json"
	"time"

	"pawl/internal/stats"
	"pawl/space"
)

// Gating is what the gate said about a point of a study: how it compares with the
// baseline, which is what is run today. A point may be gated again, on another day or
// against another baseline; the last word counts.
type Gating struct {
	Number int         `json:"number"`
	Point  space.Point `json:"point"`
	// Workload is the study's own, or another one of the same kernel.
	Workload string   `json:"workload"`
	Standing Standing `json:"standing"`
	// Verdict is the gate's own word, Reason why.
	Verdict string    `json:"verdict"`
	Reason  string    `json:"reason"`
	Created time.Time `json:"created"`
	GatingFacts
	// Result is the gate's whole result with the samples, as its reports have it.
	Result json.RawMessage `json:"-"`
}

// GatingFacts are what a page says about a gating beside its verdict.
type GatingFacts struct {
	// Speedup is over the baseline, with its 95 % interval; nil where nothing was compared.
	Speedup  *float64        `json:"speedup,omitempty"`
	Interval *stats.Interval `json:"interval,omitempty"`
	// Baseline and Current are times in milliseconds, 0 where not measured.
	Baseline float64 `json:"baseline_milliseconds,omitempty"`
	Current  float64 `json:"milliseconds,omitempty"`
	// BaselinePoint and BaselineCommit are what is run today; empty where there is no baseline.
	BaselinePoint  string `json:"baseline_point,omitempty"`
	BaselineCommit string `json:"baseline_commit,omitempty"`
	// Base is the commit whose baseline counted, empty where it was the file's own.
	Base   string `json:"base,omitempty"`
	Method string `json:"method,omitempty"`
	Rounds int    `json:"rounds,omitempty"`
	// Source is the digest of the sources that were gated, Commit theirs.
	Source string   `json:"source,omitempty"`
	Commit string   `json:"commit,omitempty"`
	Pawl   string   `json:"pawl,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// Standing is what a gating means for whether to apply a point.
type Standing string

const (
	// Running: the baseline has this point and this code.
	Running Standing = "running"
	// Faster than the baseline, proven twice.
	Faster Standing = "faster"
	// Equal: no difference that matters.
	Equal Standing = "equal"
	// Refused: wrong, or slower than the baseline.
	Refused Standing = "refused"
	// Undecided: nothing is known; the reason says why.
	Undecided Standing = "undecided"
)

func (g *Gating) columns() columns {
	return columns{
		{"number", &g.Number}, {"point", asText{&g.Point}}, {"workload", &g.Workload}, {"standing", &g.Standing},
		{"verdict", &g.Verdict},
		{"reason", &g.Reason}, {"created", asText{&g.Created}}, {"facts", asJSON{&g.GatingFacts}},
		{"result", asJSON{&g.Result}},
	}
}

// Gated records what the gate said, in one transaction, and numbers it.
func (s *Store) Gated(ctx context.Context, study int64, g Gating) error {
	g.Created = g.Created.UTC().Truncate(time.Second)
	return s.append(ctx, study, "gatings", "what the gate said about", g.columns())
}

// Gatings returns what the gate said about a study's points, in the order of time.
func (s *Store) Gatings(ctx context.Context, study int64) ([]Gating, error) {
	return readAll(ctx, s, study, "gatings", "ORDER BY number", (*Gating).columns)
}
