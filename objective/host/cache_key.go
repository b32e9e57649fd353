package host

import (
	"context"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/objective/cache"
)

// key collects what a shared object depends on. It has the preprocessed text, so it
// covers every include and every define that matters, and two points that differ in
// nothing share one entry.
func (b *Backend) key(ctx context.Context, t *Toolchain, common, flags []string, units []piece) (*cache.Key, error) {
	others := collect.Where(flags, func(flag string) bool { return !strings.HasPrefix(flag, "-D") })
	key := cache.NewKey().
		Add("backend", DeviceName).
		Add("compiler", strings.Join(t.Command, " ")+"\n"+t.Version).
		Add("processor", b.device+"\n"+instructions()). // -march=native depends on it
		Add("flags", strings.Join(others, "\x00")).
		Add("linking", strings.Join(b.linking, "\x00"))
	for _, unit := range units {
		preprocessed, err := t.run(ctx, b.options.CompileTimeout, b.dir, "", unit.text,
			slices.Concat([]string{"-x", string(unit.in)}, common, []string{"-E", "-P", "-"})...)
		if err != nil {
			return nil, err
		}
		key.Add("language", string(unit.in)).Add("source", preprocessed)
	}
	return key, nil
}
