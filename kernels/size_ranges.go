package kernels

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A workload need not be in the manifest: S=384, or B=8+S=384, is one with these sizes and
// those of the manifest's first workload for the rest. That text is its name, so that studies,
// reports and baselines find it again. S=256..4096 is some of them.

var (
	oneSize  = regexp.MustCompile(`^([A-Za-z_]\w*)=(\d+)$`)
	sizeSpan = regexp.MustCompile(`^([A-Za-z_]\w*)=(\d+)\.\.(\d+)(?::(\d+))?$`)
)

// IsRange reports whether a text asks for sizes out of a range.
func IsRange(text string) bool { return strings.Contains(text, "=") && strings.Contains(text, "..") }

func (k *Kernel) sized(text string) (Workload, error) {
	sizes := Dims{}
	for part := range strings.SplitSeq(text, "+") {
		match := oneSize.FindStringSubmatch(strings.TrimSpace(part))
		if match == nil {
			return Workload{}, fmt.Errorf("workload %q: sizes are written B=8+S=384, and ranges of them S=256..4096", text)
		}
		if err := k.addSize(sizes, text, match[1], match[2]); err != nil {
			return Workload{}, err
		}
	}
	w := k.withSizes(sizes)
	return w, k.usable(w)
}

func (k *Kernel) addSize(sizes Dims, text, name, digits string) error {
	size, err := strconv.ParseInt(digits, 10, 64)
	_, twice := sizes[name]
	_, known := k.Workloads[0].Dims[name]
	switch {
	case !known:
		return fmt.Errorf("workload %q: %s is not a size of kernel %s; there are %s", text, name, k.Name,
			strings.Join(slices.Sorted(maps.Keys(k.Workloads[0].Dims)), ", "))
	case twice:
		return fmt.Errorf("workload %q: %s is given twice", text, name)
	case err != nil || size > math.MaxInt32:
		return fmt.Errorf("workload %q: %s is too large", text, digits)
	case k.Arguments.Pinned()[name]:
		return fmt.Errorf("workload %q: %s cannot be another one: an argument whose shape depends on it is read "+
			"from a file", text, name)
	case k.Answered():
		return fmt.Errorf("workload %q: kernel %s has answers for the workloads of its manifest only", text, k.Name)
	}
	sizes[name] = size
	return nil
}

// withSizes completes sizes to a workload.
func (k *Kernel) withSizes(sizes Dims) Workload {
	w := Workload{Name: strings.ReplaceAll(sizes.String(), ",", "+"), Dims: maps.Clone(k.Workloads[0].Dims)}
	maps.Copy(w.Dims, sizes)
	return w
}

// usable returns why a workload cannot be measured: sizes that the kernel does not promise to
// work with, or at which its default or its arguments make no sense.
func (k *Kernel) usable(w Workload) error {
	if !k.Allows(w.Dims) {
		return fmt.Errorf("workload %s: kernel %s promises nothing for these sizes; its domain is %s", w.Name, k.Name,
			strings.Join(k.Domain(), ", "))
	}
	if _, err := k.Space(w); err != nil {
		return err
	}
	_, err := k.Bind(w.Dims)
	return err
}

// sampledSizes is how many workloads a range stands for where it does not say.
const sampledSizes, mostSampledSizes = 5, 100

type span struct {
	name      string
	low, high int64
}

// Range returns the workloads that a text with ranges stands for: S=256..4096 is five sizes from
// 256 to 4096, both included, S=256..4096:8 eight. They lie about evenly on a scale of ratios,
// and by chance between those, so that not all are powers of two; the same text gives the same
// sizes. Of several ranges each is drawn in an order of its own. Sizes that the kernel does not
// take are replaced by the nearest that it does.
func (k *Kernel) Range(text string) ([]Workload, error) {
	fixed, spans, count := Dims{}, []span{}, 0
	for part := range strings.SplitSeq(text, "+") {
		part = strings.TrimSpace(part)
		if one := oneSize.FindStringSubmatch(part); one != nil {
			if err := k.addSize(fixed, text, one[1], one[2]); err != nil {
				return nil, err
			}
			continue
		}
		match := sizeSpan.FindStringSubmatch(part)
		if match == nil {
			return nil,
				fmt.Errorf("workload %q: a range of sizes is written S=256..4096, or S=256..4096:8 for eight of them", text)
		}
		ends := [2]Dims{maps.Clone(fixed), maps.Clone(fixed)}
		for i, digits := range match[2:4] {
			if err := k.addSize(ends[i], text, match[1], digits); err != nil {
				return nil, err
			}
		}
		s := span{match[1], ends[0][match[1]], ends[1][match[1]]}
		if s.low < 1 || s.low >= s.high || slices.ContainsFunc(spans, func(other span) bool { return other.name == s.name }) {
			return nil, fmt.Errorf("workload %q: %s is no range: it goes once from a size above 0 to a larger one", text, part)
		}
		wanted := sampledSizes
		if match[4] != "" {
			wanted, _ = strconv.Atoi(match[4]) // digits; too many of them are too many
			if wanted < 2 || wanted > mostSampledSizes {
				return nil, fmt.Errorf("workload %q: a range gives 2 to %d workloads", text, mostSampledSizes)
			}
		}
		spans, count = append(spans, s), max(count, wanted)
	}
	return k.sample(text, fixed, spans, count)
}

func (k *Kernel) sample(text string, fixed Dims, spans []span, count int) (all []Workload, err error) {
	hash := fnv.New64a()
	hash.Write([]byte(text))
	random := rand.New(rand.NewPCG(hash.Sum64(), 0))
	orders := make([][]int, len(spans))
	for i := range spans {
		if orders[i] = random.Perm(count); i == 0 {
			slices.Sort(orders[i])
		}
	}
	var last error
	for n := range count {
		sizes := maps.Clone(fixed)
		for i, s := range spans {
			sizes[s.name] = s.at(orders[i][n], count, random)
		}
		w, err := k.nearest(sizes, spans)
		if err != nil {
			last = err
			continue
		}
		if !slices.ContainsFunc(all, func(other Workload) bool { return other.Name == w.Name }) {
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("workload %q: none of the sizes that were drawn can be used: %w", text, last)
	}
	return all, nil
}

// at is one of so many sizes of a range: its ends exactly, and others near their place.
func (s span) at(n, count int, random *rand.Rand) int64 {
	shift := random.Float64() - 0.5
	switch n {
	case 0:
		return s.low
	case count - 1:
		return s.high
	}
	ratio := math.Log(float64(s.high) / float64(s.low))
	return min(max(int64(math.Round(float64(s.low)*math.Exp(ratio*(float64(n)+0.8*shift)/float64(count-1)))), s.low),
		s.high)
}

// multiples are what kernels that are particular about sizes take, from the least particular.
var multiples = []int64{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512}

// nearest returns the workload that the kernel takes with the drawn sizes, or with the multiples
// of some number next to them.
func (k *Kernel) nearest(sizes Dims, spans []span) (w Workload, err error) {
	for _, m := range multiples {
		rounded := maps.Clone(sizes)
		for _, s := range spans {
			size := (rounded[s.name] + m/2) / m * m
			if size > s.high {
				size -= m
			}
			if size < s.low {
				size += m
			}
			rounded[s.name] = min(max(size, s.low), s.high)
		}
		w = k.withSizes(rounded)
		refused := k.usable(w)
		if refused == nil {
			return w, nil
		}
		if err == nil {
			err = refused
		}
	}
	return w, err
}
