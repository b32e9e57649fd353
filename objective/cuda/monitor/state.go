package monitor

// State is what a GPU does at one moment.
type State struct {
	SMClock     int     `json:"sm_clock"`     // MHz
	MemoryClock int     `json:"memory_clock"` // MHz; 0: the GPU does not tell
	Temperature int     `json:"temperature"`  // °C; 0: the GPU does not tell
	Power       float64 `json:"power"`        // W; 0: the GPU does not tell
	Reasons     Reasons `json:"reasons"`
}

// Limits is what a GPU can do at most. Where it does not tell, a limit is 0.
type Limits struct {
	SMClock     int     `json:"sm_clock"`     // MHz
	MemoryClock int     `json:"memory_clock"` // MHz
	Power       float64 `json:"power"`        // W, the limit in force
	Temperature int     `json:"temperature"`  // °C, where the hardware slows down
}
