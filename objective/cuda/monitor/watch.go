package monitor

// Watch collects the states around the samples of one run.
type Watch struct {
	read   func() (State, error)
	states []State
}

// NewWatch returns a watch with no states. read is usually Monitor.Read.
func NewWatch(read func() (State, error)) *Watch { return &Watch{read: read} }

// Mark reads the state: once before the first sample, then after each. After an
// error nothing was added, and the samples no longer match the states: the run
// cannot be judged.
func (w *Watch) Mark() error {
	state, err := w.read()
	if err != nil {
		return err
	}
	w.states = append(w.states, state)
	return nil
}

// States returns what was read so far. The caller must not change it.
func (w *Watch) States() []State { return w.states }

// Judge judges the samples between the marks.
func (w *Watch) Judge() (keep []bool, summary Summary) { return Judge(w.states) }
