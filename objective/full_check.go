package objective

import (
	"context"
	"sync"
	"time"

	"pawl/objective/check"
)

// verifier takes points through the full tier. It remembers how much of it a point's
// machine code has passed, so that it can be checked in parts, and never twice.
type verifier struct {
	tester *Tester
	mu     sync.Mutex
	passed map[string]int // cases, by point and machine code
	// evidence is what no outcome has carried away yet.
	evidence map[string]*check.Evidence
}

// TakeEvidence returns what a point has passed of the full tier since the last call, for an outcome to carry:
// so that it is recorded once, with the first samples that follow.
func (v *verifier) TakeEvidence(p Prepared) *check.Evidence {
	v.mu.Lock()
	defer v.mu.Unlock()
	taken := v.evidence[verifiedKey(p)]
	delete(v.evidence, verifiedKey(p))
	if taken != nil {
		taken.Noted = v.tester.noticed(p.Point)
	}
	return taken
}

// verifiedKey identifies what was checked: a point and its machine code.
func verifiedKey(p Prepared) string { return p.Point.String() + " " + p.Binary.Digest }

// foreseen is how many answers of Python's a part of a full check asks for ahead: those of trials are in a hurry.
const foreseen = 2

// Verify checks a point on the full tier.
func (v *verifier) Verify(ctx context.Context, p Prepared) (*Failure, error) {
	_, failure, err := v.VerifyFor(ctx, p, 0)
	return failure, err
}

// VerifyFor checks a point on a part of the full tier, for about as long as it is
// allowed, and reports whether it is through with all of it; 0 allows any time. It
// goes on where the call before ended.
func (v *verifier) VerifyFor(ctx context.Context, p Prepared,
	allowed time.Duration) (through bool, failure *Failure, err error) {
	key, cases := verifiedKey(p), v.tester.FullCases(p.Point)
	v.mu.Lock()
	cases = cases[v.passed[key]:]
	v.mu.Unlock()
	if len(cases) == 0 {
		return true, p.Failure, nil
	}
	if err := v.tester.discern(ctx, p); err != nil {
		return false, nil, err
	}
	ready := len(cases)
	if allowed == 0 { // and waits where it must
		v.tester.foresee(p.Point, cases, len(cases))
	} else if ready = v.tester.foresee(p.Point, cases, foreseen); ready == 0 {
		time.Sleep(allowed) // the device has nothing better to do
		return false, nil, ctx.Err()
	}
	start, begun := time.Now(), 0
	finding, err := v.tester.Try(ctx, p, func(yield func(check.Case) bool) {
		for begun < ready && (begun == 0 || allowed == 0 || time.Since(start) < allowed) && yield(cases[begun]) {
			begun++
		}
	}, nil)
	if err != nil || finding.Failure != nil {
		return false, finding.Failure, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.passed[key] += finding.Checked
	v.evidence[key] = v.evidence[key].Join(finding.Evidence)
	return finding.Checked == len(cases), nil, nil
}
