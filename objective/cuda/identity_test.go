package cuda

import "testing"

// The same machine code in another grid, or with other shared memory, is another
// point: whatever was measured of the one says nothing about the other.
func TestLaunchIsPartOfTheIdentity(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	base := r.prepare("").Binary
	for _, at := range []string{"THREADS=512", "SHARED=65536"} {
		other := r.prepare(at).Binary
		if other.Digest == base.Digest {
			t.Errorf("%s has the identity of the default", at)
		}
	}
	if again := r.prepare("").Binary; again.Digest != base.Digest {
		t.Error("the same point has two identities")
	}
}
