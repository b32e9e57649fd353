// Package monitor answers two questions: what is this GPU doing right now, and
// may a sample taken now be believed?
//
// Its opinion is that a slow sample is no evidence while the GPU says itself
// that something holds its clock back. So:
//
//  1. Open finds the GPU by its UUID, the one name that the driver API and the
//     management library share.
//  2. Read, before the first sample and after each, costs microseconds.
//  3. Judge looks at the states around the samples and says which to keep.
//
// The management library (NVML) is opened at run time. With cgo on Linux the
// calls go through go-nvml; without cgo, or with the build tag purego, through
// a dynamic loader of our own; elsewhere there is none. A machine without a
// driver gets ErrUnavailable and a sentence, never a crash.
//
// go-nvml relies on lazy binding: a program whose C toolchain binds every symbol
// at the start (-z now) ends before main where there is no driver. Build such a
// program with -tags purego, without cgo, or with -extldflags=-Wl,-z,lazy.
package monitor
