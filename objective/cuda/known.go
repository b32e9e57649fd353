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

// freshSeed is the seed of a content whose answers are needed: any, or one of those that they are
// known for. The kind is a position among the contents, and later ones take turns.
func (p *problem) freshSeed(kind int) uint64 {
	if p.load.Reference == nil || len(p.load.Reference.Answers) < heldBack+1 {
		return p.device.random.Uint64()
	}
	answers := p.load.Reference.Answers
	if kind < heldBack {
		return answers[kind].Seed
	}
	p.turns++
	return answers[heldBack+p.turns%(len(answers)-heldBack)].Seed
}
