package cuda

import (
	"fmt"
	"os"
	"slices"

	"pawl/objective/cache"
	"pawl/objective/worker"
)

// uploadKnown takes the answers from a file that was computed elsewhere for this seed.
func (p *problem) uploadKnown(inputs set, known content) error {
	answers := p.load.Reference.Answers
	at := slices.IndexFunc(answers, func(a worker.KnownAnswer) bool { return a.Seed == known.seed })
	if at < 0 {
		return fmt.Errorf("the reference: no answer came for the seed %d", known.seed)
	}
	file, err := os.ReadFile(answers[at].Path)
	if err == nil && cache.Digest(file) != answers[at].Digest {
		err = fmt.Errorf("%s was changed: find out who writes to the compile cache", answers[at].Path)
	}
	if err != nil {
		return fmt.Errorf("the answer of the reference: %w", err)
	}
	for i, b := range inputs.outputs() {
		if len(file) < b.size {
			return fmt.Errorf("the answer of the reference has %d bytes too few for %s", b.size-len(file), b.Name)
		}
		err := p.upload(known.answers[i].at, b.size, func(content []byte) error { copy(content, file); return nil })
		if err != nil {
			return err
		}
		file = file[b.size:]
	}
	return nil
}

// knownSeed is the seed of the next content whose answer can be known: any, or the next of those that answers came
// for.
func (p *problem) knownSeed() (seed uint64, more bool) {
	answers := p.load.Reference.Answers
	switch {
	case answers == nil:
		return p.device.random.Uint64(), true
	case len(p.contents) < len(answers):
		return answers[len(p.contents)].Seed, true
	}
	return 0, false
}
