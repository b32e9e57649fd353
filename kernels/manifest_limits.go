package kernels

import (
	"pawl/kernels/document"
	"pawl/space"
)

// What a manifest may hold. The numbers are far beyond what a person writes; what
// lies beyond them would make the parser or the search very slow, or crash it.
const (
	mostLets   = 100    // each is compiled for every one that uses it
	mostShapes = 10_000 // of the fuzz matrix
)

// sizes refuses lists that are too long. Parameters and their values have limits of
// their own: see space.New.
func (b *builder) sizes() error {
	k := b.keys
	for _, list := range []struct {
		name  string
		count int
		most  int
	}{
		{"constraints", len(k.Constraints), document.MostEntries}, {"args", len(k.Args), document.MostEntries},
		{"flags", len(k.Flags), document.MostEntries},
		{"domain", len(k.Domain), document.MostEntries}, {"let", k.Let.Len(), mostLets},
		{"workloads", k.Workloads.Len(), document.MostEntries},
		{"defines", k.Defines.Len(), document.MostEntries}, {"params", k.Params.Len(), space.MostParams},
	} {
		if list.count > list.most {
			return document.Top.Errorf("%s has %d entries, at most %d are supported", list.name, list.count, list.most)
		}
	}
	shapes := 1
	for _, sizes := range k.Fuzz.All() {
		if shapes *= max(1, len(sizes)); shapes > mostShapes {
			return k.Fuzz.Keys[0].At.Errorf("fuzz gives more than %d shapes: every finalist is checked on all of them",
				mostShapes)
		}
	}
	return nil
}
