package report

import (
	"slices"

	"pawl/internal/page"
	"pawl/search"
)

// TimeRow is one line of the table that says where a study's time went.
type TimeRow struct {
	What    string
	Seconds float64
	// Share is the part of the search's own time; compiling has none, because it
	// runs beside the rest.
	Share float64
}

// ShareText writes the share, or that there is none.
func (r TimeRow) ShareText() string {
	if r.Share == 0 {
		return ""
	}
	return page.WholePercent(r.Share)
}

// TimeRows says where the time went: asking, compiling, waiting for a compile,
// checking, measuring, storing, and the confirmation after the search. A study
// that was recorded before time was kept has none.
func TimeRows(s *Summary) []TimeRow {
	spent := s.Study.Spending
	total := (spent.Asking + spent.Waiting + spent.Looking + spent.Device + spent.Storing).Seconds()
	if spent == (search.Spending{}) || total == 0 {
		return nil
	}
	rows := []TimeRow{
		{"asking the sampler", spent.Asking.Seconds(), spent.Asking.Seconds() / total},
		{"waiting for a compiler", spent.Waiting.Seconds(), spent.Waiting.Seconds() / total},
		{"checking results", s.Search.Checking, s.Search.Checking / total},
		{"measuring", s.Search.Measuring, s.Search.Measuring / total},
		{"storing", spent.Storing.Seconds(), spent.Storing.Seconds() / total},
		{"compiling, beside the rest", s.Search.Compiling, 0},
		{"confirming, after the search", spent.Confirming.Seconds(), 0},
	}
	// Starting workers and waiting for the device belong to neither.
	if rest := spent.Device.Seconds() - s.Search.Checking - s.Search.Measuring; rest > 0 {
		rows = slices.Insert(rows, 4, TimeRow{"starting workers, waiting for the device", rest, rest / total})
	}
	if looking := spent.Looking.Seconds(); looking > 0 {
		rows = slices.Insert(rows, 2, TimeRow{"working ahead and looking at the leaders again, instead of waiting", looking, looking / total})
	}
	return rows
}
