//go:build !linux || (!amd64 && !arm64)

package process

import "errors"

// Confine does nothing where there is no filter of system calls, or the processor is not known here.
func Confine() error { return Confines() }

// Confines says so.
func Confines() error { return errors.New("only Linux on amd64 and arm64 filters system calls") }
