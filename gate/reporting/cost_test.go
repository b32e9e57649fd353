package reporting

import (
	"strings"
	"testing"
)

// A report may come from a job that ran a stranger's code.
func TestHostileCost(t *testing.T) {
	c := Cost{Seconds: 1e300, PricePerHour: 1, Currency: "<b>\n@all"}
	// as code: a mention would reach somebody
	if text := c.Markdown(); strings.ContainsAny(text, "\n") || strings.HasPrefix(text, "<b>") ||
		!strings.HasPrefix(text, "`") {
		t.Error(text)
	}
}
