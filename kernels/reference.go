package kernels

import "slices"

// AsReference returns the reference as if it were a kernel, so that it can be timed like one: its
// source with its launch, buffers as pointers, and no flags of the kernel's.
func (k *Kernel) AsReference() *Kernel {
	reference := *k
	reference.Source, reference.Launch.Steps, reference.Flags = k.Reference, []Step{k.Launch.Reference}, nil
	if k.Backend == Host {
		reference.Flags = []string{"-O2"} // as it is compiled for checks
	}
	reference.Arguments = slices.Clone(k.Arguments)
	for i := range reference.Arguments {
		reference.Arguments[i].TensorMap = nil
	}
	return &reference
}
