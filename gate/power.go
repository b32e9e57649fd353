package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"pawl/internal/page"
	"pawl/internal/stats"
)

// PowerOptions says what to plan for.
type PowerOptions struct {
	Options
	// Effect is the slowdown to be seen, as a share; 0 asks for none.
	Effect float64
	// Budget is the time to be used; 0 means the policy's own, with its rounds.
	Budget time.Duration
	// Rounds is how many A/A rounds are measured at most; 0 means 30. Fewer where the
	// budget ends.
	Rounds int
}

// Power is what comparisons by a policy can see of a kernel on a machine.
type Power struct {
	// Rounds were measured, each with so many samples a process. A round took so many
	// seconds, and its log ratio had this standard deviation.
	Rounds  int     `json:"rounds"`
	Samples int     `json:"samples"`
	Seconds float64 `json:"seconds_per_round"`
	Spread  float64 `json:"spread"`
	// Asked is what it takes to see the effect that was asked for; nil where none was, or
	// where no comparison is long enough.
	Asked *Design `json:"asked,omitempty"`
	// Within is the smallest effect for the budget; nil where the budget is too short to
	// prove anything, or would not even show a doubling.
	Within *Design `json:"within,omitempty"`
	// Noise is the smallest effect for the budget if the limit were none: what is between
	// it and Within is the policy's doing and not the machine's. 0 where not known.
	Noise float64  `json:"smallest_without_limit,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// Design is a comparison that sees an effect nine times of ten.
type Design struct {
	Effect float64 `json:"effect"`
	// Limit is the policy's limit for regressions, below the effect.
	Limit float64 `json:"regression"`
	// Rounds are those of the policy: the evidence is weighed at each of them, and a clear
	// answer ends the comparison there.
	Rounds []int `json:"rounds"`
	// Seconds is what all rounds take, Budget the time to write into a policy for them.
	Seconds float64       `json:"seconds"`
	Budget  time.Duration `json:"budget"`
}

// PlanPower measures a kernel against itself and works out what comparisons of it can
// see, by the simulation that says what a finished comparison would have seen. All arms of
// the measurer are the same program.
func PlanPower(ctx context.Context, m Measurer, p Policy, o PowerOptions) (Power, error) {
	if err := p.Validate(); err != nil {
		return Power{}, fmt.Errorf("policy: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Rounds = cmp.Or(o.Rounds, 30)
	ceiling := p.Rounds[len(p.Rounds)-1]
	if o.Budget > 0 {
		p.Budget, ceiling = o.Budget, mostRounds
	}
	w, result, err := measureNoise(ctx, m, p, o)
	if err != nil || w == nil {
		return result, err
	}
	n := &noise{policy: p, weighed: *w, bootstrap: o.Bootstrap, seconds: result.Seconds}
	if o.Effect > 0 {
		result.Asked = n.forEffect(o.Effect)
	}
	ceiling = min(ceiling, int(p.Budget.Seconds()/result.Seconds))
	if fewest := fewestRounds(p.Alarm); ceiling < fewest {
		result.Notes = append(result.Notes,
			fmt.Sprintf("%v is too short to prove anything: %d rounds are the fewest, and take about %s", p.Budget, fewest,
				page.Seconds(float64(fewest)*result.Seconds)))
		return result, nil
	}
	if smallest := n.simulation(p, ceiling).smallest(); smallest > 0 {
		result.Within = n.design(p, smallest, ceiling)
		result.Within.Budget = p.Budget
	}
	unlimited := p
	unlimited.Regression = 0
	result.Noise = n.simulation(unlimited, ceiling).smallest()
	return result, nil
}

// measureNoise measures A/A rounds as a comparison would. Nothing is weighed where the
// budget is over before there are enough of them to say anything.
func measureNoise(ctx context.Context, m Measurer, p Policy, o PowerOptions) (*weighed, Power, error) {
	until := max(o.Rounds, fewestRounds(p.Alarm))
	var took []float64
	var last time.Time
	observe := o.Observe
	o.Observe = func(round, _ int) {
		now := o.Now()
		took, last = append(took, now.Sub(last).Seconds()), now
		if observe != nil {
			observe(round, until)
		}
	}
	r := newRun(m, p, o.Options, 0)
	analyses, refused, err := r.plan(ctx)
	if refused != nil {
		return nil, Power{Notes: []string{refused.Reason}}, nil
	}
	last = o.Now() // the pilot is no round
	if err == nil {
		_, err = r.measure(ctx, until, analyses)
	}
	if failed, ok := errors.AsType[*broken](err); ok {
		return nil, Power{}, fmt.Errorf("the kernel fails: %s", failed.failure)
	}
	if err != nil {
		return nil, Power{}, err
	}
	result := Power{Rounds: r.samples.rounds(), Samples: r.each}
	if least := fewestRounds(p.Alarm); result.Rounds < least {
		result.Notes = append(result.Notes,
			fmt.Sprintf("the budget of %v was over after %s, and %d are the fewest that can prove anything", p.Budget,
				page.Count(result.Rounds, "round"), least))
		return nil, result, nil
	}
	w := r.weigh(analyses, Analysis{Rounds: result.Rounds, Level: p.Alarm}, true)
	result.Seconds, result.Spread = stats.Median(took), w.between.Spread
	if d := p.judgeConditions(w); d != nil {
		result.Notes = append(result.Notes, "the machine was not fit to plan on: "+d.Reason)
	}
	if r.each < r.want() {
		result.Notes = append(result.Notes,
			fmt.Sprintf("%d instead of %d samples a process, so that the rounds fit in the budget of %v", r.each, r.want(),
				p.Budget))
	}
	return &w, result, nil
}

// noise is what was measured of a kernel against itself.
type noise struct {
	policy    Policy
	weighed   weighed
	bootstrap stats.Bootstrap
	seconds   float64 // of a round
}

// simulation simulates comparisons by a policy with so many rounds at most.
func (n *noise) simulation(p Policy, ceiling int) *powerSimulation {
	p.Rounds = schedule(n.policy, ceiling)
	return newPowerSimulation(p, p.analyses(), n.weighed, n.bootstrap)
}

func (n *noise) design(p Policy, effect float64, ceiling int) *Design {
	seconds := float64(ceiling) * n.seconds
	return &Design{
		Effect: effect, Limit: p.Regression, Rounds: schedule(n.policy, ceiling), Seconds: seconds,
		// A quarter more: rounds are not all equally long.
		Budget: roundUp(time.Duration(1.25 * seconds * float64(time.Second))),
	}
}

// forEffect finds the shortest comparison that sees an effect. The policy's limit may lie
// above the effect, or so near to it that no number of rounds would do: then half the
// effect is the limit.
func (n *noise) forEffect(effect float64) *Design {
	for _, limit := range []float64{n.policy.Regression, effect / 2} {
		p := n.policy
		p.Regression = limit
		sees := func(ceiling int) bool { return n.simulation(p, ceiling).sees(effect) }
		fewest := fewestRounds(p.Alarm)
		if limit >= effect || !sees(mostRounds) {
			continue
		}
		more := sort.Search(mostRounds-fewest, func(more int) bool { return sees(fewest + more) })
		return n.design(p, effect, fewest+more)
	}
	return nil
}

// schedule returns the rounds at which a comparison with so many at most is weighed: the
// policy's own as far as they go, then doublings, without one just before the end.
func schedule(p Policy, ceiling int) []int {
	rounds := slices.Clone(p.Rounds)
	for last := rounds[len(rounds)-1]; 2*last < ceiling; {
		last *= 2
		rounds = append(rounds, last)
	}
	rounds = slices.DeleteFunc(rounds, func(r int) bool { return 4*r > 3*ceiling && r != ceiling || r > ceiling })
	if len(rounds) == 0 || rounds[len(rounds)-1] != ceiling {
		rounds = append(rounds, ceiling)
	}
	// More analyses share the alarm rate, and the first may then be too early for its part.
	for p.Rounds = rounds; len(p.Rounds) > 1 && p.validateRounds() != nil; {
		p.Rounds = p.Rounds[1:]
	}
	return p.Rounds
}
