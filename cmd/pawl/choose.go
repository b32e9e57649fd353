package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/search"
	"pawl/search/sampler"
	"pawl/space"
	"pawl/studies"
)

// chooseStudy finds the study to resume, or creates one, and locks it. The subject
// that it returns is the study's: if the command line opened another one, that is
// closed.
func chooseStudy(c *cli.Context, env environment, store *studies.Store, s *subject) (*subject, studies.Study, search.Past, func(), error) {
	fail := func(err error) (*subject, studies.Study, search.Past, func(), error) {
		return s, studies.Study{}, search.Past{}, nil, err
	}
	study := describeStudy(c, env, s)
	if c.Bool("resume") {
		earlier, found, err := findStudy(c, store, study)
		if err != nil {
			return fail(err)
		}
		if found {
			if s, err = reopen(c, env, s, earlier); err != nil {
				return fail(err)
			}
			goals := describeStudy(c, env, s) // it may have others now
			study = earlier
			study.Options, study.Command = goals.Options, goals.Command
		} else {
			fmt.Fprintln(env.stderr, "pawl: there is no study of this kernel, workload and sources to resume: starting a new one")
		}
	}
	if study.ID == 0 {
		var err error
		if study.First, err = firstPoints(c, env, store, s, study); err != nil {
			return fail(err)
		}
		id, err := store.Create(c.Context, study)
		if err != nil {
			return fail(err)
		}
		study.ID = id
	}
	unlock, err := store.Lock(study.ID)
	if err != nil {
		return fail(err)
	}
	if err := store.Continue(c.Context, study); err != nil {
		unlock()
		return fail(err)
	}
	// Read only under the lock: another process may have been writing.
	past, err := store.Past(c.Context, study.ID)
	if err != nil {
		unlock()
		return fail(err)
	}
	return s, study, past, unlock, nil
}

// reopen opens the subject again if the study was begun with other options.
func reopen(c *cli.Context, env environment, s *subject, study studies.Study) (*subject, error) {
	changed, err := adopt(c, study)
	if err != nil || !changed {
		return s, err
	}
	s.close()
	s.close = func() {}
	again, err := openSubject(c, env)
	if err != nil {
		return s, err
	}
	if difference := study.Elsewhere(again.head.Environment); difference != "" {
		return again, cannotResume(difference)
	}
	return again, nil
}

func cannotResume(difference string) error {
	return fmt.Errorf("nothing can be resumed: %s; make them agree, or start a new study without --resume", difference)
}

// earlierStudies is how many earlier studies of a kernel a new one learns from.
const earlierStudies = 3

// pastStudy is an earlier study of the same kernel.
type pastStudy struct {
	studies.Study
	trials []search.Trial
}

// pastStudies returns the latest studies of the same kernel before this one: of
// another workload, another device, or other sources. A study that is resumed finds
// the same ones again, unless one of them was itself resumed since.
func pastStudies(c *cli.Context, store *studies.Store, study studies.Study) ([]pastStudy, error) {
	if c.Bool("cold") {
		return nil, nil
	}
	all, err := store.List(c.Context)
	if err != nil {
		return nil, err
	}
	var earlier []pastStudy
	for _, other := range all {
		later := study.ID != 0 && other.ID >= study.ID
		if later || other.Kernel != study.Kernel || other.Backend != study.Backend || len(earlier) == earlierStudies {
			continue
		}
		past, err := store.Past(c.Context, other.ID)
		if err != nil {
			return nil, err
		}
		earlier = append(earlier, pastStudy{other, past.Trials})
	}
	return earlier, nil
}

// firstPoints returns what earlier studies recommend.
func firstPoints(c *cli.Context, env environment, store *studies.Store, s *subject, study studies.Study) ([]space.Point, error) {
	earlier, err := pastStudies(c, store, study)
	if err != nil {
		return nil, err
	}
	var timed [][]sampler.Timed
	for _, past := range earlier {
		timed = append(timed, search.Timed(past.trials))
	}
	points := sampler.Transfer(s.pool, timed...)
	if len(points) > 0 {
		fmt.Fprintf(env.stderr, "beginning with %d points that earlier studies found good (--cold forgets them)\n", len(points))
	}
	return points, nil
}

// memories returns what earlier studies have observed, for the model.
func memories(c *cli.Context, store *studies.Store, s *subject, study studies.Study) ([]sampler.Memory, error) {
	earlier, err := pastStudies(c, store, study)
	if err != nil {
		return nil, err
	}
	var memories []sampler.Memory
	for _, past := range earlier {
		memories = append(memories, sampler.Remember(s.pool.Space(), study.Environment.Device, past.Environment.Device, search.Timed(past.trials)))
	}
	return memories, nil
}

// describeStudy returns the head of a new study.
func describeStudy(c *cli.Context, env environment, s *subject) studies.Study {
	study := s.head
	study.Sampler, study.Seed = c.String("sampler"), c.Uint64("seed")
	study.Fingerprint = s.pool.Space().Fingerprint()
	study.Space = s.space
	study.Environment.Pawl = version()
	study.Created = time.Now()
	study.Options = askedOptions(c).For(study)
	study.Command = study.Reproduction(env.getenv)
	return study
}

// findStudy returns the newest study that asks the same question, on the same
// device, and that the command line does not contradict. If there are only others,
// the error says in what they differ: going on would mix what cannot be compared.
func findStudy(c *cli.Context, store *studies.Store, like studies.Study) (studies.Study, bool, error) {
	all, err := store.List(c.Context)
	if err != nil {
		return studies.Study{}, false, err
	}
	differs := ""
	for _, s := range all {
		same := s.Kernel == like.Kernel && s.Workload == like.Workload && s.Backend == like.Backend &&
			s.Fingerprint == like.Fingerprint && s.Source == like.Source && s.Environment.Device == like.Environment.Device
		if !same {
			continue
		}
		difference := s.Contradiction(like.Options, c.IsSet)
		// With its own --compiler it may have its own compiler: see reopen.
		if difference == "" && s.SameCompiler(like.Options) {
			difference = s.Elsewhere(like.Environment)
		}
		if difference == "" {
			return s, true, nil
		}
		differs = cmp.Or(differs, difference)
	}
	if differs != "" {
		return studies.Study{}, false, cannotResume(differs)
	}
	return studies.Study{}, false, nil
}
