package gate

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Policy is what a comparison is judged by. Shares are fractions of the
// baseline's time: 0.03 is 3 %.
type Policy struct {
	// Regression is how much slower a candidate may be before it fails.
	Regression float64 `json:"regression"`
	// Improvement is how much faster it must be for the baseline to move.
	Improvement float64 `json:"improvement"`
	// Effect is the least |Cliff's delta| of an improvement.
	Effect float64 `json:"effect"`
	// Erosion is how much slower than the best accepted entry a candidate may
	// be, however small the steps were.
	Erosion float64 `json:"erosion"`
	// Alarm is the chance, over all analyses and both directions, of calling two
	// equal sides different. It is stricter than the 95 % of one interval because
	// two disjoint 95 % intervals are: for equal errors they imply 0.0056.
	Alarm float64 `json:"alarm"`
	// Rounds are the numbers of rounds at which the evidence is weighed; the last
	// is the ceiling.
	Rounds []int `json:"rounds"`
	// Samples is how many samples each process takes. 0 leaves it to the device.
	Samples int `json:"samples,omitempty"`
	// Budget is the time for the measurements of one comparison.
	Budget time.Duration `json:"budget"`
	// Variation is the robust coefficient of variation above which a note warns.
	Variation float64 `json:"variation"`
	// Strict makes a failure of what is inconclusive or infeasible, and would be neutral.
	Strict bool `json:"strict,omitempty"`
	// Tail is how much slower the slowest calls may be.
	Tail TailLimits `json:"tail"`
	// LockClocks holds the clocks of a GPU at so many MHz meanwhile; 0 leaves them as they are.
	LockClocks int `json:"lock_clocks,omitempty"`
}

// DefaultTail is the presets'. It is wider than the limit of the median because the
// slowest calls vary more.
var DefaultTail = TailLimits{P95: 0.10, P99: 0.20}

// Presets are the policies that a file may begin from. Their rounds are whole blocks of
// orders.
var Presets = map[string]Policy{
	"strict": {
		Regression: 0.02, Improvement: 0.03, Effect: 0.3, Erosion: 0.03, Alarm: 0.004,
		Rounds: []int{12, 24, 48, 96, 192}, Budget: 5 * time.Minute, Variation: 0.12, Tail: DefaultTail,
		Strict: true,
	},
	"standard": {
		Regression: 0.03, Improvement: 0.05, Effect: 0.3, Erosion: 0.05, Alarm: 0.004,
		Rounds: []int{12, 24, 48, 96}, Budget: 2 * time.Minute, Variation: 0.12, Tail: DefaultTail,
	},
	"relaxed": {
		Regression: 0.05, Improvement: 0.10, Effect: 0.3, Erosion: 0.10, Alarm: 0.004,
		Rounds: []int{12, 24, 48}, Budget: time.Minute, Variation: 0.12, Tail: DefaultTail,
	},
}

// DefaultPreset is the preset of a policy that names none.
const DefaultPreset = "standard"

// PresetNames returns the names of the presets, sorted.
func PresetNames() []string { return slices.Sorted(maps.Keys(Presets)) }

// Validate returns what is wrong with a policy.
func (p Policy) Validate() error {
	for name, share := range map[string]float64{
		"regression": p.Regression, "improvement": p.Improvement, "erosion": p.Erosion, "variation": p.Variation,
		"tail p95": p.Tail.P95, "tail p99": p.Tail.P99,
	} {
		if !(share > 0 && share < 1) {
			return fmt.Errorf("%s is %v: a share between 0 and 1, such as 3%%", name, share)
		}
	}
	switch {
	case !(p.Effect >= 0 && p.Effect <= 1):
		return fmt.Errorf("effect is %v: a |Cliff's delta| between 0 and 1", p.Effect)
	case !(p.Alarm > 0 && p.Alarm <= 0.05):
		return fmt.Errorf("alarm is %v: a rate above 0 and up to 0.05", p.Alarm)
	case p.Samples < 0:
		return fmt.Errorf("samples is %d: at least 1 per process", p.Samples)
	case p.Budget <= 0:
		return fmt.Errorf("budget is %v: a positive time", p.Budget)
	case p.Erosion < p.Regression:
		return fmt.Errorf("erosion %v is below regression %v: a change that passes against the baseline could fail "+
			"against the oldest release", p.Erosion, p.Regression)
	}
	return p.validateRounds()
}

func (p Policy) validateRounds() error {
	if len(p.Rounds) == 0 {
		return fmt.Errorf("rounds is empty: at least one analysis is needed")
	}
	if !slices.IsSorted(p.Rounds) || len(slices.Compact(slices.Clone(p.Rounds))) < len(p.Rounds) {
		return fmt.Errorf("rounds %v do not rise", p.Rounds)
	}
	if p.Rounds[len(p.Rounds)-1] > mostRounds {
		return fmt.Errorf("rounds reach %d: at most %d", p.Rounds[len(p.Rounds)-1], mostRounds)
	}
	for _, analysis := range p.analyses() {
		if !analysis.canProve() {
			return fmt.Errorf("an analysis after %d rounds can show nothing: its smallest p-value is %.2g and its level "+
				"%.2g; begin with more rounds", analysis.Rounds, smallestChance(analysis.Rounds), analysis.Level)
		}
	}
	return nil
}

// mostRounds bounds a comparison: beyond it the answer is a quieter machine.
const mostRounds = 1000
