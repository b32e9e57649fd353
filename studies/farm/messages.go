package farm

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/check"
	"pawl/objective/devices"
	"pawl/studies"
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
	// Hold gives a device to a comparison of several sides, for as long as it takes.
	Hold Action = "hold"
)

// Subject is what tasks are about: a kernel with one of its workloads, or a recorded space that is played back.
type Subject struct {
	// Kernel is the digest of the kernel's files, packed; Record that of a record.
	Kernel string `json:"kernel,omitempty"`
	Record string `json:"record,omitempty"`
	// Name is the kernel's, for logs.
	Name string `json:"name"`
	// Architecture is what a CUDA compiler compiles for.
	Architecture string             `json:"architecture,omitempty"`
	Definition   studies.Definition `json:"definition"`
}

// Binary is a compiled kernel whose files are blobs.
type Binary struct {
	Module  string           `json:"module"`
	Support string           `json:"support,omitempty"`
	Built   objective.Binary `json:"built"`
}

// Compiled is a point that is ready to be measured, or that failed before.
type Compiled struct {
	Binary *Binary `json:"binary,omitempty"`
	// Reference is what its results are compared with; nil where the kernel has none.
	Reference *Binary            `json:"reference,omitempty"`
	Failure   *objective.Failure `json:"failure,omitempty"`
	Spent     objective.Spent    `json:"spent"`
}

// ticket is what River carries of a task. River indexes every word of what it carries, which
// for a whole question costs more than all the rest: as a text it is one word.
type ticket struct {
	Study string `json:"study"`
	Task  string `json:"task"`
	// Question is the Job, encoded.
	Question string `json:"question"`
}

func newTicket(job Job) (ticket, error) {
	question, err := json.Marshal(job)
	return ticket{job.Study, job.Task, string(question)}, err
}

// Kind is River's name for such jobs.
func (ticket) Kind() string { return "pawl" }

// Job is a task in full.
type Job struct {
	Study string `json:"study"`
	Task  string `json:"task"`
	// Protocol and Version are of who asks. A worker of others does not answer.
	Protocol int    `json:"protocol,omitempty"`
	Version  string `json:"version,omitempty"`
	// Label and Trial are the study and the trial as a person knows them, for logs: their
	// numbers in the database. Trial is empty where the task belongs to none, as the steps
	// of an ablation do.
	Label   string  `json:"label,omitempty"`
	Trial   string  `json:"trial,omitempty"`
	Action  Action  `json:"action"`
	Subject Subject `json:"subject"`
	Point   string  `json:"point,omitempty"`
	// Compiled is what a device runs.
	Compiled *Compiled `json:"compiled,omitempty"`
	// Incumbent is the best time so far in milliseconds, 0 for none.
	Incumbent float64 `json:"incumbent,omitempty"`
	// Samples is how many are taken, Fresh changes when they are to come from a fresh process.
	Samples int `json:"samples,omitempty"`
	// Kinds are kinds of data that are measured too, with KindSamples of each.
	Kinds       []string `json:"kinds,omitempty"`
	KindSamples int      `json:"kind_samples,omitempty"`
	// Allowed is how long a look takes, about.
	Allowed time.Duration `json:"allowed,omitempty"`
	Fresh   string        `json:"fresh,omitempty"`
	// Sides are what a Hold compares, and Held says how: those who ask and who work agree
	// about that, the farm only carries it.
	Sides []Side          `json:"sides,omitempty"`
	Held  json.RawMessage `json:"held,omitempty"`
}

func (j Job) trial() string { return cmp.Or(j.Trial, "none") }

// Side is a compiled point in a comparison.
type Side struct {
	Subject  Subject   `json:"subject"`
	Point    string    `json:"point"`
	Compiled *Compiled `json:"compiled"`
}

// Description is what a device says about a subject.
type Description struct {
	Environment objective.Environment `json:"environment"`
	Roofline    objective.Roofline    `json:"roofline"`
	Resident    bool                  `json:"resident"`
	// Infeasible has a bit for every point of the pool that the device's limits rule out; Reasons counts them.
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
	// Held is what came of a Hold.
	Held json.RawMessage `json:"held,omitempty"`
	// Missing is the digest of a blob that was needed and is not there.
	Missing string `json:"missing,omitempty"`
	// Lost says that every worker that had the task died, or gave it back.
	Lost bool `json:"lost,omitempty"`
	// Error is broken machinery, on several machines.
	Error string `json:"error,omitempty"`
	// Waited is how long the task waited for a device that others used: nobody pays for that.
	Waited time.Duration `json:"-"`
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

// queue makes a name that River allows: what a person recognizes, and a digest of all of it.
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
