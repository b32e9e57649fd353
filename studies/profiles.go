package studies

import (
	"context"
	"time"

	"pawl/objective/profile"
	"pawl/space"
)

// Profile is what a profiler counted in one launch of a point. A point may be profiled again; the last one counts.
type Profile struct {
	Number   int         `json:"number"`
	Point    space.Point `json:"point"`
	Workload string      `json:"workload"`
	// Tool is the profiler, Report the file that it has written; empty for none.
	Tool    string    `json:"tool"`
	Report  string    `json:"report,omitempty"`
	Created time.Time `json:"created"`
	// Binary is the digest of the machine code, as in trials.
	Binary  string          `json:"binary,omitempty"`
	Metrics profile.Metrics `json:"metrics"`
}

func (p *Profile) columns() columns {
	return columns{
		{"number", &p.Number}, {"point", asText{&p.Point}}, {"workload", &p.Workload}, {"tool", &p.Tool},
		{"report", &p.Report},
		{"created", asText{&p.Created}}, {"binary", &p.Binary}, {"metrics", asJSON{&p.Metrics}},
	}
}

// Profiled records a profile, in one transaction, and numbers it.
func (s *Store) Profiled(ctx context.Context, study int64, p Profile) error {
	p.Created = p.Created.UTC().Truncate(time.Second)
	return s.append(ctx, study, "profiles", "a profile of", p.columns())
}

// Profiles returns what was profiled of a study, in the order of time.
func (s *Store) Profiles(ctx context.Context, study int64) ([]Profile, error) {
	return readAll(ctx, s, study, "profiles", "ORDER BY number", (*Profile).columns)
}
