package ci

import (
	"strings"
	"testing"
)

// A kernel's name or a person's reason is text: it begins no other line, and it is not what
// keeps GitHub from releasing a tag on this commit.
func TestHostileNamesInTheMessage(t *testing.T) {
	m := Move{
		Key:      entry("[Skip CI]\n\nSigned-off-by: x", 1).Key,
		From:     1,
		To:       2,
		Change:   new(-0.037),
		Accepted: "because [ci skip]\nskip-checks: true",
	}
	text := message(change{moved: []Move{m}, file: []byte("x"), events: 1, chosen: []string{"[no ci]"}})
	if skips.MatchString(text) || strings.Contains(text, "\nSigned") || strings.Contains(text, "\nskip-checks") ||
		!strings.Contains(text, "accepted: because (ci skip)") {
		t.Error(text)
	}
	if !strings.HasPrefix(text, `Move the baseline of (Skip CI)\n\nSigned-off-by: x, small, f32 on D: 1 ms to 2 ms (-3.7 %)`) {
		t.Error(text)
	}
}
