package simulate

import (
	"fmt"
	"io"
	"strconv"

	"pawl/internal/page"
)

// row sums up what has happened.
func (f *virtualFarm) row() FarmRow {
	all, machines := f.now.Seconds(), float64(len(f.machines))
	r := FarmRow{
		Machines: len(f.machines), Studies: len(f.studies), TrialsPerSecond: float64(f.finished) / all, Redone: f.redone,
		GPUIdle:      1 - f.measuring.Seconds()/all/machines,
		CompilerBusy: f.compiling.Seconds() / all / machines / float64(f.options.Lanes),
		QueueBusy:    float64(f.filed) * f.options.Queue.Seconds() / all,
		DatabaseBusy: float64(f.filed) * f.options.Database.Seconds() / all,
		AskingBusy:   min(1, f.asking.Seconds()/all/float64(len(f.studies))),
	}
	// What was filed last is not done yet.
	server := r.QueueBusy + r.DatabaseBusy
	if server > 1 {
		r.QueueBusy, r.DatabaseBusy, server = r.QueueBusy/server, r.DatabaseBusy/server, 1
	}
	scarce := "queue"
	if r.DatabaseBusy > r.QueueBusy {
		scarce = "database"
	}
	most := 0.0
	for _, use := range []struct {
		name  string
		share float64
	}{{"compilers", r.CompilerBusy}, {"GPUs", 1 - r.GPUIdle}, {scarce, server}, {"asking", r.AskingBusy}} {
		if use.share > most {
			r.Limit, most = use.name, use.share
		}
	}
	return r
}

// WriteFarm writes rows as a table.
func WriteFarm(w io.Writer, rows []FarmRow) error {
	header := []string{"machines", "studies", "trials/s", "GPUs idle", "compilers busy", "queue busy", "database busy",
		"asking busy", "limit", "redone", "one study within 1 %", "sooner than one machine"}
	var cells [][]string
	for _, r := range rows {
		near, gain := "~", "~"
		if r.Gain > 0 {
			gain = fmt.Sprintf("%.1f×", r.Gain)
		}
		if r.Reached > 0 {
			near = fmt.Sprintf("%s (%s reach it)", page.Seconds(r.Near), page.Percent(r.Reached))
		}
		cells = append(cells, []string{
			strconv.Itoa(r.Machines), strconv.Itoa(r.Studies), fmt.Sprintf("%.1f", r.TrialsPerSecond), page.Percent(r.GPUIdle),
			page.Percent(r.CompilerBusy),
			page.Percent(r.QueueBusy), page.Percent(r.DatabaseBusy), page.Percent(r.AskingBusy), r.Limit,
			strconv.Itoa(r.Redone), near, gain,
		})
	}
	return page.Table(w, header, cells)
}
