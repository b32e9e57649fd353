package kernels

import (
	"io/fs"
	"slices"

	"pawl/kernels/arguments"
)

func (b *builder) answered() bool {
	return slices.ContainsFunc(b.keys.Args, func(e arguments.Entry) bool { return e.Answer != nil })
}

// answers checks that answers are all that is needed in place of a reference.
func (b *builder) answers() error {
	if !b.answered() {
		return nil
	}
	k := b.kernel
	if err := k.Arguments.Answers(b.keys.Args, k.Reference != ""); err != nil {
		return err
	}
	if !k.Unfuzzed && len(k.Fuzz) > 0 {
		return b.keys.Fuzz.Keys[0].At.Errorf("fuzz has other sizes than the workloads, and there are no answers for them: " +
			"strike it, or write a reference")
	}
	return nil
}

// Answered reports whether results are held against answers in files: only those for the
// workloads' own inputs are known.
func (k *Kernel) Answered() bool { return k.Arguments.Answered() }

// look reads the files of all arguments and checks that every workload has one.
func (k *Kernel) look(folder fs.FS) error {
	if err := k.Arguments.Describe(folder); err != nil {
		return err
	}
	answers := map[[2]string]string{} // the workload that has one, by argument and file
	for _, w := range k.Workloads {
		bindings, err := k.Bind(w.Dims)
		if err != nil {
			return placeOf(err).Errorf("%s", err)
		}
		for j, a := range k.Arguments {
			at, given := a.AnswerAt()
			if !given {
				continue
			}
			answer := [2]string{a.Name, bindings[j].Answer.Name}
			if other, twice := answers[answer]; twice {
				return at.Errorf("argument %s: %s would be the answer for the workloads %s and %s, which are different "+
					"problems: give each its own, or strike a workload", a.Name, answer[1], other, w.Name)
			}
			answers[answer] = w.Name
		}
	}
	return nil
}
