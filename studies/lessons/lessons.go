// Package lessons says what all studies of a kernel have taught: which parameters mattered and in
// which direction, what failed and why, which advice was followed and
// what it brought, what was never tried. It also keeps profiles with the studies that have tried their points, and has
// a study's winner profiled beside the default once the search is over, which slows no search.
//
// Its evidence are pairs of trials of one study that differ in exactly one parameter: nothing else
// can explain their difference but noise, and many pairs that agree are no noise. What a model
// would guess is not among it. Studies of one device and workload are taken together; of different
// ones they are kept apart, because what helps on one may hurt on the other.
package lessons

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/internal/page"
	"pawl/internal/stats"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/space"
	"pawl/studies"
)

// Past is a study with its trials and the rounds that compare its finalists, and with what was profiled, in the order
// of time.
type Past struct {
	Study    studies.Study
	Trials   []trial.Trial
	Rounds   []trial.Round
	Profiles []studies.Profile
}

// winner is the point that a confirmation has found to be the best, with its time in milliseconds.
func (p Past) winner() (point space.Point, milliseconds float64, found bool) {
	rounds := trial.Past{Trials: p.Trials, Rounds: p.Rounds}.Standing()
	if point, found = confirm.Winner(rounds); found {
		contenders := confirm.Contenders(rounds, trial.Confirmation)
		i := slices.IndexFunc(contenders, func(c confirm.Contender) bool { return c.Point == point })
		milliseconds = contenders[i].Milliseconds()
	}
	return point, milliseconds, found
}

// Lesson is what the studies of a kernel on one device and workload have taught.
type Lesson struct {
	Kernel   string  `json:"kernel"`
	Device   string  `json:"device"`
	Workload string  `json:"workload"`
	Backend  string  `json:"backend"`
	Studies  []int64 `json:"studies"`
	Trials   int     `json:"trials"`
	// Best is the fastest winner of a confirmation, with its time in milliseconds, and Confirmed the number of the study
	// that confirmed it. Without any, Best is the fastest trial and Confirmed is 0; without that, Milliseconds is 0, too.
	Best         space.Point `json:"best"`
	Milliseconds float64     `json:"milliseconds"`
	Confirmed    int64       `json:"confirmed,omitempty"`
	// Moves are changes of one parameter, those that matter most first.
	Moves    []Move    `json:"moves,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
	// Followed is what came of the advice that the default gives.
	Followed []Followed `json:"followed,omitempty"`
	// Untried are values that no trial has had.
	Untried []string `json:"untried,omitempty"`
	// Dead are parameters that never changed the machine code.
	Dead []string `json:"dead,omitempty"`
	// Next is what the next study should try, in sentences.
	Next []string `json:"next,omitempty"`
}

// Move is what one change of one parameter did, over all pairs of trials that differ in it alone.
type Move struct {
	Param string `json:"param"`
	From  string `json:"from"`
	To    string `json:"to"`
	// Pairs is how many there were, Better in how many of them the figure fell.
	Pairs  int `json:"pairs"`
	Better int `json:"better"`
	// Ratio is the median of the figure before over after, at least 1: it fell.
	Ratio float64 `json:"ratio"`
}

// Text says it in words.
func (m Move) Text() string {
	if m.Pairs == 1 {
		return fmt.Sprintf("%s %s → %s: %s times as fast, in the one pair that there is", m.Param, m.From, m.To,
			page.Figure(m.Ratio))
	}
	return fmt.Sprintf("%s %s → %s: faster in %d of %d pairs, %s times in the middle", m.Param, m.From, m.To, m.Better,
		m.Pairs, page.Figure(m.Ratio))
}

// Failure is a kind of failure, and the value of a parameter that it goes with.
type Failure struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// With is the assignment whose trials failed most often like this: Failed of Tried; empty where no
	// assignment stands out.
	With   string `json:"with,omitempty"`
	Failed int    `json:"failed,omitempty"`
	Tried  int    `json:"tried,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Read returns the lessons of a kernel from all studies in a database, largest number of trials first.
func Read(ctx context.Context, store *studies.Store, kernel string) ([]Lesson, error) {
	pasts, err := Pasts(ctx, store, func(s studies.Study) bool { return s.Kernel == kernel || s.Origin == kernel })
	return Learn(pasts), err
}

// Pasts returns the studies that are wanted, with their trials, newest first; damaged ones are left out.
func Pasts(ctx context.Context, store *studies.Store, wanted func(studies.Study) bool) ([]Past, error) {
	all, err := store.List(ctx)
	if err != nil {
		return nil, err
	}
	var pasts []Past
	for _, s := range all {
		if s.Damaged != "" || !wanted(s) {
			continue
		}
		past, err := store.Past(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		profiles, err := store.Profiles(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		pasts = append(pasts, Past{s, past.Trials, past.Rounds, profiles})
	}
	return pasts, nil
}

// Learn returns the lessons of studies.
func Learn(pasts []Past) []Lesson {
	groups := map[[4]string][]Past{}
	var order [][4]string
	for _, p := range pasts {
		key := [4]string{p.Study.Kernel, p.Study.Environment.Device, p.Study.Workload, p.Study.Backend}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], p)
	}
	var lessons []Lesson
	for _, key := range order {
		lessons = append(lessons, learn(groups[key]))
	}
	slices.SortStableFunc(lessons, func(a, b Lesson) int { return cmp.Compare(b.Trials, a.Trials) })
	return lessons
}

// milliseconds is the figure that lessons are about.
func milliseconds(_ Past, t trial.Trial) (float64, bool) {
	return t.Outcome.Milliseconds(), true
}

func learn(pasts []Past) Lesson {
	head := pasts[0].Study
	l := Lesson{Kernel: head.Kernel, Device: head.Environment.Device, Workload: head.Workload, Backend: head.Backend}
	for _, p := range pasts {
		l.Studies, l.Trials = append(l.Studies, p.Study.ID), l.Trials+len(p.Trials)
		if point, ms, found := p.winner(); found && (l.Confirmed == 0 || ms < l.Milliseconds) {
			l.Best, l.Milliseconds, l.Confirmed = point, ms, p.Study.ID
		}
		for _, t := range p.Trials {
			if l.Confirmed == 0 && t.OK() && (l.Milliseconds == 0 || t.Outcome.Milliseconds() < l.Milliseconds) {
				l.Best, l.Milliseconds = t.Point, t.Outcome.Milliseconds()
			}
		}
		for _, name := range p.Study.Dead {
			if !slices.Contains(l.Dead, name) {
				l.Dead = append(l.Dead, name)
			}
		}
	}
	fewest := 2
	if len(head.Space.Params) == 1 {
		fewest = 1 // there is no second pair of two values
	}
	l.Moves = slices.DeleteFunc(Moves(pasts, milliseconds), func(m Move) bool { return !m.agrees(fewest) })
	l.Failures = failures(pasts)
	l.Followed = followed(pasts)
	l.Untried = untried(pasts)
	l.Next = next(l, pasts)
	return l
}

// agrees says that a move has so many pairs, that they agree, and that they are worth a word.
func (m Move) agrees(fewest int) bool {
	agree := max(m.Better, m.Pairs-m.Better)
	return m.Pairs >= fewest && float64(agree) >= 0.75*float64(m.Pairs) && math.Abs(math.Log(m.Ratio)) >= 0.02
}

// Moves returns what single changes do to a figure, in trials of one study that differ in one
// parameter alone; those with the largest effect first. The direction of each is from the value
// with the larger figure.
func Moves(pasts []Past, figure func(Past, trial.Trial) (float64, bool)) []Move {
	type change struct{ param, from, to string }
	ratios := map[change][]float64{}
	for _, p := range pasts {
		eachPair(p, func(param string, a, b trial.Trial, from, to string) {
			x, there := figure(p, a)
			y, also := figure(p, b)
			if !there || !also || x <= 0 || y <= 0 {
				return
			}
			if from > to { // one name for both directions
				from, to, x, y = to, from, y, x
			}
			key := change{param, from, to}
			ratios[key] = append(ratios[key], x/y)
		})
	}
	var moves []Move
	for key, all := range ratios {
		m := Move{Param: key.param, From: key.from, To: key.to, Pairs: len(all), Ratio: stats.Median(all)}
		if m.Ratio < 1 {
			m.From, m.To, m.Ratio = m.To, m.From, 1/m.Ratio
			for i := range all {
				all[i] = 1 / all[i]
			}
		}
		for _, r := range all {
			if r > 1 {
				m.Better++
			}
		}
		moves = append(moves, m)
	}
	slices.SortFunc(moves, func(a, b Move) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()),
			cmp.Compare(a.Param+" "+a.From+" "+a.To, b.Param+" "+b.From+" "+b.To))
	})
	return moves
}

// weight is a move's effect, less where it rests on few pairs.
func (m Move) weight() float64 {
	return math.Abs(math.Log(m.Ratio)) * float64(m.Pairs) / float64(m.Pairs+2)
}

// eachPair calls do with each pair of trials that passed and differ in one parameter alone.
func eachPair(p Past, do func(param string, a, b trial.Trial, from, to string)) {
	type place struct{ param, rest string }
	at := map[place][]trial.Trial{}
	for _, t := range p.Trials {
		if !t.OK() {
			continue
		}
		for _, assignment := range t.Point.Assignments() {
			key := place{assignment.Name, t.Point.Without(assignment.Name).String()}
			for _, other := range at[key] {
				from, _ := other.Point.Get(assignment.Name)
				do(assignment.Name, other, t, from.String(), assignment.Value.String())
			}
			at[key] = append(at[key], t)
		}
	}
}

// untried are the values of parameters that no trial has had, by the newest study's space.
func untried(pasts []Past) (list []string) {
	seen := map[string]bool{}
	for _, p := range pasts {
		for _, t := range p.Trials {
			for _, a := range t.Point.Assignments() {
				seen[a.Name+"="+a.Value.String()] = true
			}
		}
	}
	for _, param := range pasts[0].Study.Space.Params {
		missing := slices.DeleteFunc(slices.Clone(param.Values), func(v string) bool { return seen[param.Name+"="+v] })
		if len(missing) > 0 {
			list = append(list, param.Name+": "+strings.Join(missing, ", "))
		}
	}
	return list
}
