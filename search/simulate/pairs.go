package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"pawl/internal/page"
)

// pairBudgets are the numbers of evaluations at which a warm search is compared with a
// cold one: memory pays early or not at all.
var pairBudgets = []int{5, 10, 25, 50, 100}

// PairsReport says what a study of one recorded space is worth to a search of another of
// the same kernel, for every two.
type PairsReport struct {
	Sampler string `json:"sampler"`
	Seeds   int    `json:"seeds"`
	// Earlier is the number of trials of the study that is learned from.
	Earlier int    `json:"earlier_trials"`
	Budgets []int  `json:"budgets"`
	Pairs   []Pair `json:"pairs"`
	// Together is what several other spaces know together, for each space that has them.
	Together []Together `json:"together,omitempty"`
}

// Pair is one space, searched with a study of another.
type Pair struct {
	From string `json:"from"`
	To   string `json:"to"`
	// SameDevice says that both were recorded on one kind of device: the workload or the
	// source is another.
	SameDevice bool `json:"same_device"`
	// Warm and Cold are fractions of the optimum at the budgets, Help compares them.
	Warm []Estimate `json:"warm"`
	Cold []Estimate `json:"cold"`
	Help []Help     `json:"help"`
	// Ranked is the fraction that the other space's points reach when they are tried from its fastest on,
	// every one of them known: what an order that is taken over can bring at most.
	Ranked []float64 `json:"ranked"`
}

// RunPairs searches every space cold, and warm after each other space of the same kernel.
func RunPairs(ctx context.Context, options Options) (*PairsReport, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	if len(options.Samplers) != 1 {
		options.Samplers = []string{"auto"}
	}
	options = options.withDefaults()
	var spaces []*Recorded
	for _, file := range options.Files {
		s, err := readRecorded(file)
		if err != nil {
			return nil, err
		}
		spaces = append(spaces, s)
	}
	return runPairs(ctx, spaces, options)
}

func runPairs(ctx context.Context, spaces []*Recorded, options Options) (*PairsReport, error) {
	e := entrant{sampler: options.Samplers[0]}
	if err := e.check(spaces[0]); err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	report := &PairsReport{Sampler: e.sampler, Seeds: options.Seeds, Earlier: options.earlierTrials()}
	for _, b := range pairBudgets {
		if b <= options.Trials {
			report.Budgets = append(report.Budgets, b)
		}
	}
	if len(report.Budgets) == 0 {
		return nil,
			fmt.Errorf("simulate: pairs are compared after %d trials and more, not after %d", pairBudgets[0], options.Trials)
	}
	cold, earlier, err := coldRuns(ctx, spaces, e, options)
	if err != nil {
		return nil, err
	}
	for to, s := range spaces {
		var others []*Recorded
		for from, other := range spaces {
			if from == to || other.space.Record().Kernel != s.space.Record().Kernel {
				continue
			}
			warm, err := s.warmRuns(ctx, e, other, earlier[from], options)
			if err != nil {
				return nil, err
			}
			report.Pairs = append(report.Pairs, report.pair(other, s, warm, cold[to]))
			others = append(others, other)
		}
		if len(others) > 1 {
			report.Together = append(report.Together,
				Together{To: s.name, Others: len(others), Ranked: s.ranked(others, report.Budgets)})
		}
	}
	if len(report.Pairs) == 0 {
		return nil, errors.New("simulate: no two of the files are of the same kernel")
	}
	return report, nil
}

// coldRuns searches every space as it is, and once more with luck of its own for others to
// learn from. Both are by space and seed.
func coldRuns(ctx context.Context, spaces []*Recorded, e entrant, options Options) (cold, earlier [][]run, err error) {
	jobs := newJobs(ctx, options)
	cold, earlier = make([][]run, len(spaces)), make([][]run, len(spaces))
	for i, s := range spaces {
		cold[i], earlier[i] = make([]run, options.Seeds), make([]run, options.Seeds)
		for k := range options.Seeds {
			seed := options.FirstSeed + uint64(k)
			jobs.add(&cold[i][k], func(ctx context.Context) (run, error) { return s.search(ctx, e, seed, lessons{}, options) })
			jobs.add(&earlier[i][k], func(ctx context.Context) (run, error) { return s.earlier(ctx, e, seed, options) })
		}
	}
	return cold, earlier, jobs.wait()
}

// warmRuns searches a space, by seed, after another was searched.
func (r *Recorded) warmRuns(ctx context.Context, e entrant, other *Recorded, earlier []run,
	options Options) ([]run, error) {
	jobs := newJobs(ctx, options)
	warm := make([]run, options.Seeds)
	for k := range warm {
		learned, err := r.learn(other, earlier[k])
		if err != nil {
			return nil, err
		}
		jobs.add(&warm[k], func(ctx context.Context) (run, error) {
			return r.search(ctx, e, options.FirstSeed+uint64(k), learned, options)
		})
	}
	return warm, jobs.wait()
}

// jobs runs searches side by side and tells the options' Progress.
type jobs struct {
	group   *errgroup.Group
	ctx     context.Context
	options Options
	mu      sync.Mutex
	done    int
	total   int
}

func newJobs(ctx context.Context, options Options) *jobs {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(options.Parallel)
	return &jobs{group: group, ctx: ctx, options: options}
}

func (j *jobs) add(into *run, search func(context.Context) (run, error)) {
	j.mu.Lock()
	j.total++
	j.mu.Unlock()
	j.group.Go(func() (err error) {
		*into, err = search(j.ctx)
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.done++; j.options.Progress != nil {
			j.options.Progress(j.done, j.total)
		}
		return err
	})
}

func (j *jobs) wait() error {
	if err := j.group.Wait(); err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	return nil
}

func (r *PairsReport) pair(from, to *Recorded, warm, cold []run) Pair {
	p := Pair{From: from.name, To: to.name, SameDevice: from.device() == to.device()}
	for _, budget := range r.Budgets {
		p.Warm = append(p.Warm, to.fractions(warm, budget))
		p.Cold = append(p.Cold, to.fractions(cold, budget))
	}
	p.Help = help(to, warm, cold, r.Budgets)
	p.Ranked = to.ranked([]*Recorded{from}, r.Budgets)
	return p
}

// fractions estimates the fraction of the optimum after a number of trials.
func (r *Recorded) fractions(runs []run, budget int) Estimate {
	bySeed := make([]float64, len(runs))
	for seed, run := range runs {
		bySeed[seed] = r.fraction(run.best[budget-1])
	}
	return estimate(bySeed)
}

// WriteTable writes one row for each pair, and which pair came out worst.
func (r *PairsReport) WriteTable(w io.Writer) error {
	fmt.Fprintf(w,
		"%s after a study of another recorded space, %d trials, and without: %d seeds, fraction of the optimum, gain with "+
			"its 95 %% interval, and what the other space's own order reaches with every point of it known\n", r.Sampler,
		r.Earlier, r.Seeds)
	header := []string{"from", "to", "device"}
	for _, b := range r.Budgets {
		header = append(header, fmt.Sprintf("%d trials, cold", b), "gain", "its order")
	}
	var rows [][]string
	for _, p := range r.Pairs {
		row := []string{p.From, p.To, "another"}
		if p.SameDevice {
			row[2] = "the same"
		}
		for i := range r.Budgets {
			gain := p.Help[i].Gain
			row = append(row, fmt.Sprintf("%.3f, %.3f", p.Warm[i].Mean, p.Cold[i].Mean),
				fmt.Sprintf("%+.3f [%+.3f, %+.3f]", gain.Mean, gain.Low, gain.High), fmt.Sprintf("%.3f", p.Ranked[i]))
		}
		rows = append(rows, row)
	}
	if err := page.Table(w, header, rows); err != nil {
		return fmt.Errorf("simulate: writing the table: %w", err)
	}
	for _, t := range r.Together {
		fmt.Fprintf(w, "%s in the order of all %d others, every point of them known:", t.To, t.Others)
		for i, b := range r.Budgets {
			fmt.Fprintf(w, " %.3f at %d", t.Ranked[i], b)
		}
		fmt.Fprintln(w)
	}
	for i, b := range r.Budgets {
		worst := slices.MinFunc(r.Pairs, func(x, y Pair) int { return cmp.Compare(x.Help[i].Gain.Mean, y.Help[i].Gain.Mean) })
		gain := worst.Help[i].Gain
		fmt.Fprintf(w, "worst pair at %d: %s for %s, %+.3f [%+.3f, %+.3f]; mean over the pairs %.3f, cold %.3f\n", b,
			worst.From, worst.To, gain.Mean, gain.Low, gain.High, r.meanOver(i, true), r.meanOver(i, false))
	}
	return nil
}

func (r *PairsReport) meanOver(budget int, warm bool) float64 {
	sum := 0.0
	for _, p := range r.Pairs {
		estimates := p.Cold
		if warm {
			estimates = p.Warm
		}
		sum += estimates[budget].Mean / float64(len(r.Pairs))
	}
	return sum
}
