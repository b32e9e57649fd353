package search

import (
	"fmt"

	"pawl/objective"
)

// sameBinary returns an error when a point's machine code is not what its
// recorded outcome was measured with: what is checked in full, what is timed
// and what is suggested must be one and the same. A recorded space has no
// machine code, and nothing to compare.
func sameBinary(recorded objective.Outcome, p objective.Prepared) error {
	before, now := recorded.Binary, p.Binary.Digest
	if before == "" || now == "" || before == now {
		return nil
	}
	return fmt.Errorf("the machine code of %s is not what was measured before (digest %.12s, then %.12s): the compiler, its flags or an include has changed since; start a new study, without --resume", p.Point, before, now)
}
