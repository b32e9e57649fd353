package tune

import (
	"fmt"
	"strings"
	"time"

	"pawl/internal/page"
	"pawl/internal/process"
)

// watchOthers is how long other programs are watched before a search: long enough for the ticks of the clock.
const watchOthers = 200 * time.Millisecond

// busyShare is the share of the machine beyond which others disturb.
const busyShare = 0.25

// busyText says what other programs do to the times, or nothing.
func busyText(l process.Load) string {
	if l.Cores < busyShare*float64(l.Of) {
		return ""
	}
	names := ""
	if len(l.Programs) > 0 {
		names = " (" + strings.Join(l.Programs, ", ") + ")"
	}
	return fmt.Sprintf("the machine is busy: other programs%s use %.1f of %s, so that times are noisy and intervals "+
		"wide; close them, or tune when it is quiet", names, l.Cores, page.Count(l.Of, "core"))
}
