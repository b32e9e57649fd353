package process

import (
	"slices"
	"testing"
	"time"
)

// Two of four cores are busy; programs of one name count together, and those that hardly run are not named.
func TestTheLoadOfOthers(t *testing.T) {
	before := usage{cores: 4, busy: 1000, total: 9000, programs: map[program]uint64{{1, "init"}: 50, {2, "cc1"}: 100}}
	after := usage{cores: 4, busy: 1060, total: 9120, programs: map[program]uint64{
		{1, "init"}: 51, {2, "cc1"}: 120, {3, "cc1"}: 15, {4, "a (b) c"}: 20, {5, "x"}: 4, {6, "y"}: 4,
	}}
	load := before.until(after)
	if load.Cores != 2 || load.Of != 4 || !slices.Equal(load.Programs, []string{"cc1", "a (b) c", "x"}) {
		t.Errorf("%+v", load)
	}
	if idle := after.until(after); idle.Cores != 0 || idle.Programs != nil {
		t.Errorf("%+v", idle)
	}
}

func TestOthersAreRead(t *testing.T) {
	load, known := Others(time.Millisecond)
	if known && (load.Of < 1 || load.Cores < 0 || load.Cores > float64(load.Of)) {
		t.Errorf("%+v", load)
	}
}
