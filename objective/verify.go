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
	// evidence is what no outcome has carried away yet.
	evidence map[string]*Evidence
}

func (v *verified) get(key string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.passed[key]
}

func (v *verified) add(key string, cases int, evidence *Evidence) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.passed == nil {
		v.passed, v.evidence = map[string]int{}, map[string]*Evidence{}
	}
	v.passed[key] += cases
	v.evidence[key] = v.evidence[key].Join(evidence)
}

// take returns what was verified since the last call, for an outcome to carry: so
// that it is recorded once, with the first samples that follow.
func (v *verified) take(p Prepared) *Evidence {
	v.mu.Lock()
	defer v.mu.Unlock()
	taken := v.evidence[p.verifiedKey()]
	delete(v.evidence, p.verifiedKey())
	return taken
}

// verifiedKey identifies what was checked: a point and its machine code.
func (p Prepared) verifiedKey() string { return p.Point.String() + " " + p.Binary.Digest }

// Verify checks a point on the full tier.
func (e *Evaluator) Verify(ctx context.Context, p Prepared) (*Failure, error) {
	_, failure, err := e.VerifyFor(ctx, p, 0)
	return failure, err
}

// VerifyFor checks a point on a part of the full tier, for about as long as it is
// allowed, and reports whether it is through with all of it; 0 allows any time. It
// goes on where the call before ended.
func (e *Evaluator) VerifyFor(ctx context.Context, p Prepared, allowed time.Duration) (through bool, failure *Failure, err error) {
	key := p.verifiedKey()
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
	e.verified.add(key, finding.Checked, finding.Evidence)
	return finding.Checked == len(cases), nil, nil
}

// Spare reports whether the device has time to spare while compilers run: a
// processor compiles itself.
func (e *Evaluator) Spare() bool { return e.backend.Resident() }
