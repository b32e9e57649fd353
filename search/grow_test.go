package search

import (
	"slices"
	"testing"

	"pawl/search/trial"
	"pawl/space"
)

// A space that is too large to enumerate is searched beyond the sample of its points, and a study that was
// interrupted goes on as the undisturbed one: what is found on the way leaves no trace.
func TestResumeBeyondTheSample(t *testing.T) {
	var params []space.Param
	for _, name := range []string{"A", "B", "C", "D", "E"} {
		p := space.Param{Name: name, Ordered: true, Default: space.IntegerValue(0)}
		for v := range int64(12) {
			p.Values = append(p.Values, space.IntegerValue(v))
		}
		params = append(params, p)
	}
	sp, err := space.New(params, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := sp.Pool(space.PoolOptions{Points: 500})
	if err != nil {
		t.Fatal(err)
	}
	begin := func(history []trial.Trial) *study {
		s, err := newStudy(pool, Options{Sampler: "auto", Seed: 5}.withDefaults(), forgetful{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.restore(history); err != nil {
			t.Fatal(err)
		}
		return s
	}
	const trials = 45
	goOn := func(s *study) []trial.Trial {
		for len(s.trials) < trials {
			trial, err := s.ask()
			if err != nil {
				t.Fatal(err)
			}
			ms := 1.0
			for i, a := range trial.Point.Assignments() {
				off := float64(a.Value.Integer() - int64(3+i))
				ms += off * off / 10
			}
			trial.Finished, trial.Outcome.Samples = true, []float64{ms}
			if err := s.finish(trial); err != nil {
				t.Fatal(err)
			}
		}
		return s.trials
	}
	points := func(trials []trial.Trial) (texts []string) {
		for _, trial := range trials {
			texts = append(texts, trial.Point.String())
		}
		return texts
	}
	undisturbed := goOn(begin(nil))
	outside := 0
	for _, trial := range undisturbed {
		if _, err := pool.Index(trial.Point); err != nil {
			outside++
		}
	}
	if outside < 10 {
		t.Errorf("%d of %d trials are outside of the sample", outside, trials)
	}
	for _, after := range []int{1, 12, 31, 44} {
		if got := points(goOn(begin(undisturbed[:after:after]))); !slices.Equal(got, points(undisturbed)) {
			t.Errorf("resumed after %d trials it asks others", after)
		}
	}
}
