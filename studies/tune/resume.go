package tune

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"pawl/internal/page"
	"pawl/objective"
	"pawl/search/trial"
	"pawl/studies"
)

// choose finds the study to resume, or creates one, and locks it.
func (r *run) choose(ctx context.Context) (study studies.Study, past trial.Past, unlock func(), err error) {
	study = r.describe()
	if r.Resume {
		earlier, found, err := r.find(ctx, study)
		if err != nil {
			return study, past, nil, err
		}
		if found {
			if before := earlier.Environment.Pawl; before != study.Environment.Pawl {
				r.Tools.Notice(fmt.Sprintf("study %d was started by pawl %s and is resumed by pawl %s, which may search and "+
					"measure differently", earlier.ID, cmp.Or(before, "of an unknown version"), study.Environment.Pawl))
			}
			if err := r.adopt(ctx, earlier); err != nil {
				return study, past, nil, err
			}
			goals := r.describe() // it may have others now
			study = earlier
			study.Options, study.Command, study.Workloads = goals.Options, goals.Command, goals.Workloads
		} else {
			r.Tools.Notice(r.nothingToResume(ctx, study))
		}
	}
	if study.ID == 0 {
		if study.First, err = r.first(ctx, study); err != nil {
			return study, past, nil, err
		}
		if study.ID, err = r.store.Create(ctx, study); err != nil {
			return study, past, nil, err
		}
	}
	if unlock, err = r.store.Lock(study.ID); err != nil {
		return study, past, nil, err
	}
	if err = r.store.Continue(ctx, study); err == nil {
		// Read only under the lock: another process may have been writing.
		past, err = r.store.Past(ctx, study.ID)
	}
	if err == nil {
		err = r.tryAgain(study, &past)
	}
	if err != nil {
		unlock()
		return study, past, nil, err
	}
	return study, past, unlock, nil
}

// tryAgain takes back what an earlier version has recorded of points that the machine had failed: a killed compiler was
// a compile error, a killed worker a crash.
func (r *run) tryAgain(study studies.Study, past *trial.Past) error {
	recorder := r.store.Recorder(study.ID)
	reopened := 0
	for i, t := range past.Trials {
		if !t.Finished || t.Outcome.Failure == nil || !t.Outcome.Failure.ByMachine() {
			continue
		}
		if err := recorder.Reopened(t.Number); err != nil {
			return err
		}
		past.Trials[i] = trial.Trial{Number: t.Number, Point: t.Point}
		reopened++
	}
	for i, round := range past.Rounds {
		failure := round.Outcome.Failure
		if failure == nil || !failure.ByMachine() {
			continue
		}
		// As of a device that was throttled: the round counts for nobody.
		round.Outcome = objective.Outcome{Failure: &objective.Failure{Stage: failure.Stage, Reason: objective.Throttled,
			Detail: "the machine failed: " + failure.Detail}}
		if err := recorder.Discounted(round); err != nil {
			return err
		}
		past.Rounds[i] = round
	}
	if reopened > 0 {
		r.Tools.Notice(fmt.Sprintf("%s failed because of the machine, as by a killed compiler, and run again",
			page.Count(reopened, "recorded trial", "recorded trials")))
	}
	return nil
}

func (r *run) describe() studies.Study {
	study := r.head
	study.Place = r.Place
	study.Sampler, study.Seed = r.Study.Sampler, r.Study.Seed
	study.Fingerprint = r.pool.Space().Fingerprint()
	study.Space = r.space
	study.Environment.Pawl = r.Version
	study.Created = time.Now()
	asked := r.Study
	asked.Goals = r.limited()
	study.Options = asked.For(study)
	study.Command = study.Reproduction(r.Tools.Getenv)
	return study
}

// find returns the newest study that asks the same question, on the same device, and
// that nothing asked for contradicts. If there are only others, the error says in what
// they differ: going on would mix what cannot be compared.
func (r *run) find(ctx context.Context, like studies.Study) (studies.Study, bool, error) {
	var found studies.Study
	differs := ""
	err := r.store.EachLike(ctx, like.Kernel, like.Backend, func(s studies.Study) error {
		same := s.Workload == like.Workload && s.Fingerprint == like.Fingerprint && s.Source == like.Source &&
			s.Environment.Device == like.Environment.Device
		if !same {
			return nil
		}
		difference := s.Contradiction(like.Options, r.Given)
		// With its own --compiler it may have its own compiler: see adopt.
		if difference == "" && (s.Options == (studies.Options{}) || s.Options.Compiler == like.Options.Compiler) {
			difference = s.Elsewhere(like.Environment)
		}
		if difference == "" {
			found = s
			return studies.ErrEnough
		}
		differs = cmp.Or(differs, difference)
		return nil
	})
	if err == nil && found.ID == 0 && differs != "" {
		err = cannotResume(differs)
	}
	return found, found.ID != 0, err
}

// nothingToResume says why a new study is started: where there is one of other sources, it goes on with those alone.
func (r *run) nothingToResume(ctx context.Context, like studies.Study) string {
	all, _ := r.store.List(ctx) // it was read a moment ago
	for _, s := range all {
		if s.Kernel == like.Kernel && s.Workload == like.Workload && s.Backend == like.Backend && s.Source != like.Source {
			return fmt.Sprintf("the sources are not those of study %d (%s now, %s then): starting a new study; to resume that "+
				"one, put its sources back", s.ID, like.Source, s.Source)
		}
	}
	return "there is no study of this kernel, workload and sources to resume: starting a new one"
}

// adopt takes over a study's own options, and opens the subject again where they
// differ in what is measured.
func (r *run) adopt(ctx context.Context, study studies.Study) error {
	adopted, changed := study.Adopt(r.Study, r.Given)
	r.Study = adopted
	if !changed {
		return nil
	}
	r.close()
	again, err := open(ctx, r.Options)
	if err != nil {
		return err
	}
	r.subject = again
	if difference := study.Elsewhere(again.head.Environment); difference != "" {
		return cannotResume(difference)
	}
	return nil
}

func cannotResume(difference string) error {
	return fmt.Errorf("nothing can be resumed: %s; make them agree, or start a new study without --resume", difference)
}
