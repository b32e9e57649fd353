package cuda

import "pawl/objective"

var _ objective.Profiling = (*Backend)(nil)

// Under returns the backend with workers that a tool starts.
func (b *Backend) Under(tool []string) objective.Backend {
	copied := *b
	copied.under = tool
	return &copied
}
