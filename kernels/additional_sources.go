package kernels

import (
	"path/filepath"
	"slices"
	"strings"

	"pawl/internal/collect"
)

// units takes the files that are compiled beside the source, and the folders of includes.
func (b *builder) units() error {
	if only := b.files.Reference; len(only.units) > 0 {
		return only.units[0].At.Errorf("a reference is one file: include the others in %s", only.Text)
	}
	seen := []string{b.kernel.Source}
	for _, unit := range b.files.Source.units {
		switch {
		case slices.Contains(seen, unit.Text):
			return unit.At.Errorf("source: %s is listed twice", unit.Text)
		case !b.on.Takes(unit.Text):
			return unit.At.Errorf("source: %s is compiled on its own and linked, so its name must end in %s; include a header "+
				"instead", unit.Text, strings.Join(b.on.suffixes(), ", "))
		}
		seen = append(seen, unit.Text)
		b.kernel.Units = append(b.kernel.Units, unit.Text)
	}
	for _, folder := range b.keys.Include {
		if folder.Text == "" || !filepath.IsLocal(folder.Text) {
			return folder.At.Errorf("include: %q leaves the kernel's folder, so that its files would not belong to the "+
				"kernel; copy or link what is needed into it, or name the folder in flags (-I%s)", folder.Text, folder.Text)
		}
		b.kernel.Include = append(b.kernel.Include, folder.Text)
	}
	return nil
}

// Sources are the files that are compiled: the source and its further units.
func (k *Kernel) Sources() []string { return append([]string{k.Source}, k.Units...) }

// IncludeFlags have compilers look into the manifest's folders, which they run in.
func (k *Kernel) IncludeFlags() (flags []string) {
	return collect.Each(k.Include, func(folder string) string { return "-I" + folder })
}
