package monitor

import "fmt"

// hot is the temperature in °C above which boost clocks start to give way.
const hot = 80

// Warnings puts what a reader must know about a run into sentences. A run
// without trouble has none.
func Warnings(summary Summary) []string {
	var warnings []string
	if summary.Temperature > hot {
		warnings = append(warnings, fmt.Sprintf("%d °C: above %d °C the clock may give way; cool the GPU or let it rest before measuring again", summary.Temperature, hot))
	}
	if summary.Throttled > 0 {
		warnings = append(warnings, fmt.Sprintf("%s taken while the clock was throttled (%s) and %s discarded",
			counted(summary.Throttled, summary.Samples), summary.Reasons&throttling, are(summary.Throttled)))
	}
	if summary.LowClock > 0 {
		warnings = append(warnings, fmt.Sprintf("%s taken while the SM clock was more than 5 %% below the run's median of %d MHz and %s discarded",
			counted(summary.LowClock, summary.Samples), summary.ClockMedian, are(summary.LowClock)))
	}
	if summary.Samples > 0 && summary.Kept() == 0 {
		warnings = append(warnings, fmt.Sprintf("no sample is left to believe; lock the SM clock at or below %d MHz, where it can be held, and measure again", summary.ClockLow))
	}
	return warnings
}

func counted(some, all int) string {
	if some == 1 {
		return fmt.Sprintf("%d of %d samples was", some, all)
	}
	return fmt.Sprintf("%d of %d samples were", some, all)
}

func are(count int) string {
	if count == 1 {
		return "is"
	}
	return "are"
}
