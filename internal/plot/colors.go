package plot

// Colors are those of Okabe and Ito, which people who do not see all colors can
// tell apart; the last is the color of text.
var Colors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "currentColor"}

// Names for what colors mean in several pictures.
const (
	// Best is what a reader should look at, Other all the rest, Bad what failed or got slower, Good what got faster.
	Best  = "#0072b2"
	Other = "#8a939e"
	Bad   = "#d55e00"
	Good  = "#009e73"
)
