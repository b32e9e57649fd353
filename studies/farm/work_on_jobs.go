package farm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// failures is how many machines may fail at a task before the asker is told.
const failures = 3

// WorkOptions say what a worker does.
type WorkOptions struct {
	// ID is the worker's, new for every process, Host its machine and Identity its device.
	ID, Host, Identity string
	Offers             Offers
	// Queues are what it takes jobs from, each with how many at once.
	Queues map[string]int
	// Grace is how long jobs in hand may take when the worker is stopped, before they are given back.
	Grace time.Duration
	// Do does a job. An error is broken machinery, and gives the job to another machine.
	Do func(context.Context, Job) (Answer, error)
}

type work struct {
	river.WorkerDefaults[ticket]
	farm    *Farm
	options WorkOptions
	running sync.Map // Running by job
	// mismatch has room for the reason to leave: the farm was moved to another version.
	mismatch chan error
}

var errFenced = errors.New("the job was given to another worker meanwhile: what this one found is dropped")

// atOnce lets River try again at once and before others: the reason was the machine, and the next one has it.
type atOnce struct{}

func (atOnce) NextRetry(*rivertype.JobRow) time.Time { return firstTag }

// Work takes jobs until the context ends, then finishes those in hand or gives them back.
func (f *Farm) Work(ctx context.Context, o WorkOptions) error {
	w := &work{farm: f, options: o, mismatch: make(chan error, 1)}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	queues := map[string]river.QueueConfig{}
	for name, width := range o.Queues {
		queues[name] = river.QueueConfig{MaxWorkers: width}
	}
	// Nobody has to lead: jobs are due at once, the dead are found by their heartbeats, and
	// who asked removes what is done. So a worker needs no right to remove jobs.
	client, err := river.NewClient(riverpgxv5.New(f.pool), &river.Config{
		ID: o.ID, Schema: f.schema, Queues: queues, Workers: workers, Logger: quiet(f.log), LeaderElectionDisabled: true,
		FetchCooldown: cooldown, FetchPollInterval: time.Second, JobTimeout: -1, // what a job does has limits of its own
		RetryPolicy: atOnce{}, SoftStopTimeout: o.Grace, Test: river.TestConfig{Time: f.options.clock},
	})
	if err != nil {
		return err
	}
	if err := w.beatOnce(ctx); err != nil {
		return f.explain("joining the farm", err)
	}
	beside, silent := context.WithCancel(context.WithoutCancel(ctx))
	var beating sync.WaitGroup
	beating.Go(func() {
		f.beat(beside, func(ctx context.Context) error {
			_ = w.leaveIfMoved(ctx) // what else there is to say, the heartbeat says
			return w.beatOnce(ctx)
		})
	})
	defer func() {
		silent()
		beating.Wait()
		leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), Silence)
		defer cancel()
		if _, err := f.pool.Exec(leaving, "DELETE FROM machines WHERE id = $1", o.ID); err != nil {
			f.log.Warn("the farm was not told that this worker leaves", "error", err)
		}
	}()
	if err := client.Start(beside); err != nil {
		return f.explain("taking jobs", err)
	}
	var reason error
	select {
	case <-ctx.Done():
	case reason = <-w.mismatch:
	}
	if err := client.Stop(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, context.Canceled) {
		return errors.Join(reason, err)
	}
	return reason
}

// leaveIfMoved ends the worker when the farm was moved to another version.
func (w *work) leaveIfMoved(ctx context.Context) error {
	err := w.farm.stillAgree(ctx)
	if errors.As(err, new(*MismatchError)) {
		select {
		case w.mismatch <- err:
		default:
		}
	}
	return err
}

// refuse returns what becomes of a job of another version; nil is a job that may be done. Which
// side is the wrong one, the farm says. A worker that is leaves, and the job waits for another.
// An asker that is notices it too; only those that are too old to look are told.
func (w *work) refuse(ctx context.Context, job Job) (answer *Answer, err error) {
	if job.Protocol == Protocol && job.Version == w.farm.options.Version {
		return nil, nil
	}
	if err := w.leaveIfMoved(ctx); err != nil {
		return nil, river.JobSnooze(beatInterval)
	}
	if job.Version != "" {
		return nil, river.JobCancel(fmt.Errorf("asked by pawl %s, and this worker is pawl %s", job.Version,
			w.farm.options.Version))
	}
	return &Answer{Error: fmt.Sprintf("the farm is of pawl %s, which may measure differently: ask it with the same one",
		w.farm.options.Version)}, nil
}

// beatOnce tells the farm that the worker lives. A worker that was given up for dead comes back by this.
func (w *work) beatOnce(ctx context.Context) error {
	running := []Running{}
	w.running.Range(func(_, hand any) bool {
		running = append(running, hand.(Running))
		return true
	})
	slices.SortFunc(running, func(a, b Running) int { return cmp.Compare(a.Job, b.Job) })
	_, err := w.farm.pool.Exec(ctx, `INSERT INTO machines (id, host, identity, offers, running) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (id) DO UPDATE SET running = $5, heartbeat = now()`, w.options.ID, w.options.Host, w.options.Identity,
		w.options.Offers, running)
	return err
}

// Work is River's call for one job.
func (w *work) Work(ctx context.Context, job *river.Job[ticket]) error {
	var args Job
	if err := json.Unmarshal([]byte(job.Args.Question), &args); err != nil {
		return river.JobCancel(fmt.Errorf("the question cannot be read: %w", err))
	}
	w.running.Store(job.ID, Running{
		Job:    job.ID,
		Study:  args.Label,
		Trial:  args.Trial,
		Action: args.Action,
		Kernel: args.Subject.Name,
		Point:  args.Point,
	})
	defer w.running.Delete(job.ID)
	log := w.farm.log.With("study", args.Label, "trial", args.trial(), "job", job.ID, "attempt", job.Attempt, "action",
		args.Action, "kernel", args.Subject.Name, "point", args.Point)
	start := time.Now()
	if refused, err := w.refuse(ctx, args); err != nil {
		log.Warn("refused", "asker", args.Version, "reason", err)
		return err
	} else if refused != nil {
		log.Warn("refused", "asker", "an older version")
		return w.finish(context.WithoutCancel(ctx), job, args, *refused, 0)
	}
	answer, err := w.options.Do(ctx, args)
	took := time.Since(start)
	var missing *MissingError
	switch {
	case err == nil:
	case ctx.Err() != nil:
		log.Info("given back", "took", took)
		return fmt.Errorf("given back: %w", context.Cause(ctx))
	case errors.As(err, &missing):
		answer = Answer{Missing: missing.Digest}
	case job.Attempt < failures:
		log.Warn("failed, and given to another machine", "took", took, "error", err)
		return err
	default:
		answer = Answer{Error: err.Error()}
	}
	err = w.finish(context.WithoutCancel(ctx), job, args, answer, took)
	if err != nil {
		log.Warn("not written", "took", took, "error", err)
		return err
	}
	log.Info("done", "took", took)
	return nil
}

// finish writes the answer and completes the job in one transaction, if this attempt is still the latest.
func (w *work) finish(ctx context.Context, job *river.Job[ticket], asked Job, answer Answer, took time.Duration) error {
	by := writer{
		machine:  w.options.ID,
		identity: w.options.Identity,
		attempt:  job.Attempt,
		seconds:  (took - answer.Waited).Seconds(),
	}
	switch m := w.options.Offers.Measures; {
	case asked.Action == Compile || asked.Action == DescribeBuild:
		by.device = Compiling
	case asked.Subject.Record != "":
		by.device = ReplayQueue
	case m != nil:
		by.device = m.Device
	}
	// It is the disk that makes an answer one: who asked may have recorded it, and nobody
	// would do a job again that is running here and was answered.
	return w.farm.persist(ctx, "writing an answer", func(ctx context.Context) error {
		return w.farm.transact(ctx, beginDurable,
			func(tx pgx.Tx) (*pgx.Batch, error) { return w.finishOnce(ctx, tx, job, answer, by) })
	})
}

func (w *work) finishOnce(ctx context.Context, tx pgx.Tx, job *river.Job[ticket], answer Answer,
	by writer) (last *pgx.Batch, err error) {
	completed, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
	switch {
	case errors.Is(err, river.ErrNotFound):
		return nil, errFenced
	case err != nil:
		return nil, err
	case completed.Attempt != job.Attempt:
		return nil, errFenced // the other's job is as it was: this transaction ends here
	case completed.State != rivertype.JobStateCompleted:
		// River has put the job back for an earlier attempt, which it does not look at; the
		// latest attempt is this one, or the job was withdrawn.
		updated, err := tx.Exec(ctx, `UPDATE river_job SET state = 'completed', finalized_at = now()
			WHERE id = $1 AND attempt = $2 AND state NOT IN ('cancelled', 'discarded', 'completed')`, job.ID, job.Attempt)
		if err != nil {
			return nil, err
		}
		if updated.RowsAffected() == 0 {
			return nil, errFenced
		}
	}
	last = &pgx.Batch{}
	return last, w.farm.answer(last, job.Args.Study, job.Args.Task, answer, by)
}

type writer struct {
	machine, identity, device string
	attempt                   int
	seconds                   float64
}

// wordLimit is how many bytes a notification may have: PostgreSQL's own is 8,000.
const wordLimit = 7900

// answer queues what writes the answer of a task that has none, and says so to who waits for it: with
// the answer itself, where it is short enough, so that nobody has to read it.
func (f *Farm) answer(to *pgx.Batch, study, task string, answer Answer, by writer) error {
	encoded, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	digest, word := "", task
	if answer.Outcome != nil {
		digest = answer.Outcome.Binary
	}
	if whole := task + " " + string(encoded); len(whole) <= wordLimit {
		word = whole
	}
	to.Queue(`WITH written AS (
			UPDATE tasks SET answer = $3, finished = now(), machine = $4, identity = $5, device = $6, attempt = $7,
			seconds = $8, binary_digest = nullif($9, '')
			WHERE study = $1 AND name = $2 AND answer IS NULL RETURNING name)
		SELECT pg_notify($10, $11) FROM written`,
		study, task, encoded, by.machine, by.identity, by.device, by.attempt, by.seconds, digest, f.answersTopic(study), word)
	return nil
}
