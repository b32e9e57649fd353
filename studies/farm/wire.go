package farm

import (
	"strings"
	"time"

	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/check"
	"pawl/objective/devices"
)

// Action is what a task asks for.
type Action string

// The actions. Describe says what a device is, and the rest of those with a device comes
// last; DescribeBuild and Compile need a compiler.
const (
	Describe      Action = "describe"
	DescribeBuild Action = "describe build"
	Compile       Action = "compile"
	Measure       Action = "measure"
	Verify        Action = "verify"
	Sample        Action = "sample"
	// Look is a part of Verify, in time that a device has to spare.
	Look Action = "look"
)

// Subject is what tasks are about: a kernel with one of its workloads, or a recorded space
// that is played back.
type Subject struct {
	// Kernel is the digest of the kernel's files, packed; Record that of a record.
	Kernel string `json:"kernel,omitempty"`
	Record string `json:"record,omitempty"`
	// Name is the kernel's, for logs.
	Name     string `json:"name"`
	Backend  string `json:"backend"`
	Workload string `json:"workload,omitempty"`
	// Compiler is the one for CUDA, Architecture what it compiles for.
	Compiler     string `json:"compiler,omitempty"`
	Architecture string `json:"architecture,omitempty"`
	// The rest is of studies.Options.
	Seed           uint64        `json:"seed"`
	Samples        int           `json:"samples,omitempty"`
	Caches         string        `json:"caches,omitempty"`
	RunTimeout     time.Duration `json:"run_timeout,omitempty"`
	CompileTimeout time.Duration `json:"compile_timeout,omitempty"`
}

// Binary is a compiled kernel whose files are blobs.
type Binary struct {
	Module    string               `json:"module"`
	Support   string               `json:"support,omitempty"`
	Digest    string               `json:"digest"`
	Size      int64                `json:"size,omitempty"`
	Resources *objective.Resources `json:"resources,omitempty"`
}

// Compiled is a point that is ready to be measured, or that failed before.
type Compiled struct {
	Binary *Binary `json:"binary,omitempty"`
	// Reference and Naive are what its results are compared with; nil where the kernel has
	// none.
	Reference *Binary            `json:"reference,omitempty"`
	Naive     *Binary            `json:"naive,omitempty"`
	Failure   *objective.Failure `json:"failure,omitempty"`
	Spent     objective.Spent    `json:"spent"`
}

// ticket is what River carries of a task: where the question is. River indexes every word
// of what it carries, which for a whole question costs more than all the rest.
type ticket struct {
	Study string `json:"study"`
	Task  string `json:"task"`
}

// Kind is River's name for such jobs.
func (ticket) Kind() string { return "pawl" }

// Job is a task in full.
type Job struct {
	Study   string  `json:"study"`
	Task    string  `json:"task"`
	Action  Action  `json:"action"`
	Subject Subject `json:"subject"`
	Point   string  `json:"point,omitempty"`
	// Compiled is what a device runs.
	Compiled *Compiled `json:"compiled,omitempty"`
	// Rival is the best time so far in milliseconds, 0 for none.
	Rival float64 `json:"rival,omitempty"`
	// Samples is how many are taken, Fresh changes when they are to come from a fresh
	// process.
	Samples int `json:"samples,omitempty"`
	// Allowed is how long a look takes, about.
	Allowed time.Duration `json:"allowed,omitempty"`
	Fresh   string        `json:"fresh,omitempty"`
}

// Description is what a device says about a subject.
type Description struct {
	Environment objective.Environment `json:"environment"`
	Roofline    objective.Roofline    `json:"roofline"`
	Resident    bool                  `json:"resident"`
	// Infeasible has a bit for every point of the pool that the device's limits rule out;
	// Reasons counts them.
	Infeasible []byte         `json:"infeasible,omitempty"`
	Reasons    map[string]int `json:"reasons,omitempty"`
	// Default is why the default cannot be launched there, nil if it can.
	Default *objective.Failure `json:"default,omitempty"`
}

// Answer is what came of a task. One field beside Missing, Lost and Error is set, by action.
type Answer struct {
	Description *Description       `json:"description,omitempty"`
	Compiled    *Compiled          `json:"compiled,omitempty"`
	Outcome     *objective.Outcome `json:"outcome,omitempty"`
	// Failure and Evidence are of Verify, and Through says that a Look was the last.
	Failure  *objective.Failure `json:"failure,omitempty"`
	Evidence *check.Evidence    `json:"evidence,omitempty"`
	Through  bool               `json:"through,omitempty"`
	// Missing is the digest of a blob that was needed and is not there.
	Missing string `json:"missing,omitempty"`
	// Lost says that every worker that had the task died, or gave it back.
	Lost bool `json:"lost,omitempty"`
	// Error is broken machinery, on several machines.
	Error string `json:"error,omitempty"`
}

// Offers is what a worker has.
type Offers struct {
	Measures *devices.Measures  `json:"measures,omitempty"`
	Compiles []devices.Compiles `json:"compiles,omitempty"`
	// Replays says that it answers from records.
	Replays bool `json:"replays,omitempty"`
	// Lanes is how many compilers run at once.
	Lanes int `json:"lanes"`
}

// ReplayQueue carries tasks about records, which need no device.
const ReplayQueue = "replay"

// MeasureQueue carries what any device of a model and driver may do.
func MeasureQueue(m devices.Measures) string {
	return queue("measure", m.Device, m.Backend, m.Driver, m.Architecture)
}

// OwnQueue carries what one device must do: a confirmation stays where it began.
func OwnQueue(m devices.Measures) string {
	return queue("own", m.Identity, MeasureQueue(m))
}

// CompileQueue carries compilations for an architecture by a compiler.
func CompileQueue(c devices.Compiles) string {
	return queue("compile", c.Architecture, c.Backend, c.Name, c.Version)
}

// queue makes a name that River allows: what a person recognises, and a digest of all of it.
func queue(kind, title string, more ...string) string {
	readable := strings.Join(strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
	if len(readable) > 40 {
		readable = strings.TrimRight(readable[:40], "-")
	}
	name := cache.Digest([]byte(strings.Join(append([]string{title}, more...), "\x00")))[:10]
	if readable != "" {
		name = readable + "-" + name
	}
	return kind + "-" + name
}
