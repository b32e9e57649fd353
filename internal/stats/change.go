package stats

// Change returns (baseline-current)/baseline, the share of the baseline time that
// was saved: 0.03 is 3 % faster, -0.03 is 3 % slower. It panics unless both
// timings are positive and finite.
func Change(baseline, current float64) float64 {
	requirePositive("Change", []float64{baseline, current})
	return (baseline - current) / baseline
}
