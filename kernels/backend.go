package kernels

import (
	"path"
	"slices"
	"strings"

	"pawl/internal/collect"
)

// The names of the backends.
const (
	Host    = "host"
	CUDA    = "cuda"
	Command = "command"
)

// Backend is a kind of device as the manifest knows it, as data. Packages above ask these
// fields and compare no names. How a backend compiles and runs is the package of its name
// below objective.
type Backend struct {
	Name string
	// GPU says that a launch has a grid and a block, and that clocks and the compiler
	// can be chosen. Without it the kernel runs on the processor.
	GPU bool
	// Program says that a point is a program that is run, not a function that is called: it has
	// no sources, arguments or tolerance, and its section has the keys of a command.
	Program bool
	// Languages are what its compilers read; a program has none.
	Languages []Language
	// Objects says that it links what a command of the manifest has compiled, of any language.
	Objects bool
	// Optimization is the flag that a kernel gets whose manifest says nothing about
	// optimization. A compiler's own default is none at all, or is by backend another
	// one than people build with, and what is best without is seldom best with it.
	Optimization string
	// Caches says what timed launches find in the caches unless somebody asks for something else: see worker.Caches. A
	// GPU's kernels mostly read what is long gone from them. A processor's are mostly called right after what has
	// made their inputs.
	Caches string
	// Variables of the environment choose its compilers and devices.
	Variables []string
	// Quantities are what it measures beside what every backend does.
	Quantities []Quantity

	section func(*manifest) *section // nil where the manifest has none
}

// Language is what a source is written in: its key below source and reference, and
// how the names of its files end.
type Language struct {
	Key      string
	Suffixes []string
	// Tiles says that a launch runs programs on tiles: its compiler decides about threads and
	// shared memory, takes parameters and defines as constant arguments of the function, and
	// no flags. See triton_kernels.go.
	Tiles bool
}

// Backends are all that a manifest may have a section for.
var Backends = []Backend{
	{
		Name: Host, Caches: "warm",
		Languages:    []Language{{Key: Host, Suffixes: append([]string{".c"}, CPlusPlusSuffixes...)}, {Key: object}},
		Objects:      true,
		Optimization: "-O2",
		Variables:    []string{"CC"},
		section:      func(m *manifest) *section { return m.Host },
	},
	{
		Name: CUDA, GPU: true, Caches: "cold",
		Languages: []Language{
			{Key: CUDA, Suffixes: []string{".cu"}},
			{Key: "triton", Suffixes: []string{".py"}, Tiles: true},
		},
		Optimization: "-O3",
		Variables: []string{"NVCC", "NVCC_CCBIN", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES",
			"PAWL_PYTHON"},
		Quantities: []Quantity{
			{Name: Registers}, {Name: Spills, Unit: "bytes"}, {Name: Shared, Unit: "bytes"}, {Name: Energy, Unit: "mJ"},
		},
		section: func(m *manifest) *section { return m.CUDA },
	},
	{
		Name: Command, Program: true,
		Quantities: []Quantity{
			{Name: UserTime, Unit: Milliseconds, PerSample: true}, {Name: SystemTime, Unit: Milliseconds, PerSample: true},
		},
		section: func(m *manifest) *section {
			if m.Command == nil {
				return nil
			}
			return &section{Keys: m.Command.Keys}
		},
	},
}

// BackendOf returns the backend of a name; the zero value is none.
func BackendOf(name string) Backend {
	found, _ := collect.First(Backends, func(b Backend) bool { return b.Name == name })
	return found
}

// BackendNames lists the backends for a message.
func BackendNames() string {
	return strings.Join(backendNames(), ", ")
}

func backendNames() []string { return collect.Each(Backends, func(b Backend) string { return b.Name }) }

// On is the backend that the kernel was read for.
func (k *Kernel) On() Backend { return BackendOf(k.Backend) }

// Takes reports whether its compilers read a file, by how its name ends.
func (b Backend) Takes(file string) bool {
	return slices.Contains(b.suffixes(), strings.ToLower(path.Ext(file)))
}

func (b Backend) suffixes() (all []string) {
	for _, l := range b.Languages {
		all = append(all, l.Suffixes...)
	}
	return all
}

// LoadAny is [Load] for the first backend that the kernel has a source for; the preferred one,
// which may be none, is tried before the others.
func LoadAny(name, preferred string) (k *Kernel, err error) {
	for _, backend := range append([]string{preferred}, backendNames()...) {
		if k, err = Load(name, backend); !isNoSource(err) {
			return k, err
		}
	}
	return nil, err
}
