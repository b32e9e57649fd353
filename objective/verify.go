package objective

import (
	"context"
	"sync"
	"time"
)

// verified remembers how much of the full tier a point's machine code has passed,
// so that it can be checked in parts, and never twice.
type verified struct {
	mu     sync.Mutex
	passed map[string]int // cases, by point and machine code
}

func (v *verified) get(key string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.passed[key]
}

func (v *verified) add(key string, cases int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.passed == nil {
		v.passed = map[string]int{}
	}
	v.passed[key] += cases
}

// Verify checks a point on the full tier.
func (e *Evaluator) Verify(ctx context.Context, p Prepared) (*Failure, error) {
	_, failure, err := e.VerifyFor(ctx, p, 0)
	return failure, err
}

// VerifyFor checks a point on a part of the full tier, for about as long as it is
// allowed, and reports whether it is through with all of it; 0 allows any time. It
// goes on where the call before ended.
func (e *Evaluator) VerifyFor(ctx context.Context, p Prepared, allowed time.Duration) (through bool, failure *Failure, err error) {
	key := p.Point.String() + " " + p.Binary.Digest
	cases := e.FullCases(p.Point)[e.verified.get(key):]
	if len(cases) == 0 {
		return true, p.Failure, nil
	}
	start, begun := time.Now(), 0
	finding, err := e.Try(ctx, p, func(yield func(Case) bool) {
		for begun < len(cases) && (begun == 0 || allowed == 0 || time.Since(start) < allowed) && yield(cases[begun]) {
			begun++
		}
	}, nil)
	if err != nil || finding.Failure != nil {
		return false, finding.Failure, err
	}
	e.verified.add(key, finding.Checked)
	return finding.Checked == len(cases), nil, nil
}

// Spare reports whether the device has time to spare while compilers run: a
// processor compiles itself.
func (e *Evaluator) Spare() bool { return e.backend.Resident() }
