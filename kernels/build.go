package kernels

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"pawl/space"
)

// builder checks a decoded manifest for one backend and compiles it.
type builder struct {
	manifest *manifest
	files    section
	keys     keys
	backend  string
	dims     *space.Scope // dimensions and definitions over them
	all      *space.Scope // also parameters
	kernel   *Kernel
}

var cIdentifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// Check returns what is wrong with the text of a manifest, for one backend; the file is for
// messages.
func Check(file string, content []byte, backend string) error {
	_, err := parse(file, content, backend)
	return err
}

// parse reads a manifest and returns the kernel for one backend.
func parse(file string, content []byte, backend string) (*Kernel, error) {
	if err := checkText(content); err != nil {
		return nil, Locate(file, content, err)
	}
	m := &manifest{}
	if err := Decode(content, "manifest", m); err != nil {
		return nil, Locate(file, content, err)
	}
	merged := m.forBackend(backend)
	b := &builder{manifest: m, files: merged, keys: merged.Keys, backend: backend}
	kernel, err := b.build()
	if err != nil {
		return nil, Locate(file, content, err)
	}
	return kernel, nil
}

func (b *builder) build() (*Kernel, error) {
	b.kernel = &Kernel{Name: b.manifest.Name.text, Summary: b.manifest.Summary.text, Backend: b.backend}
	for _, step := range []func() error{
		b.sizes, b.names, b.sources, b.workloads, b.params, b.scopes, b.constraints,
		b.arguments, b.fuzz, b.domain, b.defines, b.tolerance, b.launch, b.work, b.flags, b.rivals, b.answers, b.commands,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for _, w := range b.kernel.Workloads {
		s, err := b.kernel.Space(w)
		if err != nil {
			return nil, b.top().errorf("%s", err)
		}
		b.kernel.initial = s.Default()
		if _, err := b.kernel.Bind(w.Dims); err != nil {
			return nil, placeOf(err).errorf("%s", err)
		}
		if err := b.kernel.tryFormulas(w.Dims); err != nil {
			return nil, placeOf(err).errorf("%s", err)
		}
	}
	if err := b.objectives(); err != nil {
		return nil, err
	}
	return b.kernel, nil
}

// top is the place for what is missing altogether.
func (b *builder) top() position { return position{1, 1} }

func (b *builder) missing(key string) error {
	return b.top().errorf("%s is missing", key)
}

func (b *builder) names() error {
	switch name, entry := b.manifest.Name, b.keys.Entry; {
	case name.text == "":
		return b.missing("name")
	case !plainName.MatchString(name.text):
		return name.at.errorf("name %q: letters, digits, dots, dashes and underscores only", name.text)
	case b.backend == Command:
		return nil
	case b.files.Source.text == "" && b.manifest.Command != nil:
		return b.noSource()
	case entry.text == "":
		return b.missing("entry")
	case !b.callable(entry.text):
		return b.notCallable(entry)
	}
	b.kernel.Entry = b.keys.Entry.text
	return nil
}

func (b *builder) sources() error {
	switch {
	case b.backend == Command && (b.manifest.Command == nil || len(b.manifest.Command.Run) == 0):
		return b.noSource()
	case b.backend == Command:
		return nil
	case b.files.Source.text == "":
		return b.noSource()
	}
	if b.files.Reference.text == "" && !b.answered() {
		return b.top().errorf("reference is missing for backend %s: without one, or an answer for every output, no result can be checked, and nothing unchecked is timed", b.backend)
	}
	b.kernel.Source, b.kernel.Reference, b.kernel.Naive = b.files.Source.text, b.files.Reference.text, b.files.Naive.text
	for _, backend := range []string{Host, CUDA} {
		merged := b.manifest.forBackend(backend)
		for _, file := range []scalar{merged.Source, merged.Reference, merged.Naive} {
			if file.text != "" {
				b.kernel.named = append(b.kernel.named, file.text)
			}
		}
		for _, a := range merged.Keys.Args {
			for _, file := range slices.Concat(a.From, a.Answer) {
				b.kernel.data = append(b.kernel.data, file.text)
			}
		}
		for _, flag := range merged.Keys.Flags {
			b.kernel.flags = append(b.kernel.flags, flag.text)
		}
	}
	return nil
}

func (b *builder) noSource() error {
	cause := &NoSourceError{Kernel: b.kernel.Name, Backend: b.backend}
	return &mistake{at: b.top(), message: cause.Error(), cause: cause}
}

func (b *builder) workloads() error {
	if b.backend == Command && b.keys.Workloads == nil {
		b.kernel.Workloads = []Workload{{Name: "default", Dims: Dims{}}}
		return nil
	}
	if count(b.keys.Workloads) == 0 {
		return b.missing("workloads")
	}
	var first []string
	for key, sizes := range b.keys.Workloads.all() {
		if !plainName.MatchString(key.text) {
			return key.at.errorf("workload name %q: letters, digits, dots, dashes and underscores only", key.text)
		}
		w := Workload{Name: key.text, Dims: Dims{}}
		for dim, text := range sizes.all() {
			size, err := text.size(dim.text + " of workload " + key.text)
			if err != nil {
				return err
			}
			w.Dims[dim.text] = size
		}
		names := slices.Sorted(maps.Keys(w.Dims))
		if first == nil {
			first = names
		}
		if !slices.Equal(first, names) {
			return key.at.errorf("workload %s has dimensions %s, the first has %s", key.text, strings.Join(names, ", "), strings.Join(first, ", "))
		}
		b.kernel.Workloads = append(b.kernel.Workloads, w)
	}
	return nil
}

func (b *builder) params() error {
	if count(b.keys.Params) == 0 {
		return b.missing("params")
	}
	for key, entry := range b.keys.Params.all() {
		p := space.Param{Name: key.text}
		for _, v := range entry.Values {
			if v.value.Kind() == 0 {
				return v.at.errorf("parameter %s: value %s is not an integer, a boolean or a string", key.text, v.text)
			}
			p.Values = append(p.Values, v.value)
		}
		if len(p.Values) == 0 {
			return key.at.errorf("parameter %s has no values", key.text)
		}
		if entry.Default.value.Kind() == 0 {
			return key.at.errorf("parameter %s has no default", key.text)
		}
		p.Default = entry.Default.value
		p.Ordered = space.LikelyOrdered(p.Values)
		if entry.Ordered != nil {
			p.Ordered = *entry.Ordered
		}
		// A space of this parameter alone checks it where its place is known.
		if _, err := space.New([]space.Param{p}, nil, nil); err != nil {
			return key.at.errorf("%s", err)
		}
		if entry.Reference && b.answered() {
			return key.at.errorf("the result depends on parameter %s, and answers in files are right for one of its values: write a reference", key.text)
		}
		if entry.Reference {
			b.kernel.Meaning = append(b.kernel.Meaning, key.text)
		}
		b.kernel.params = append(b.kernel.params, p)
	}
	return nil
}

// scopes builds the two scopes of names. Definitions that use parameters are
// not visible where only sizes make sense, in the shape of a buffer.
func (b *builder) scopes() error {
	dims, all := map[string]space.Kind{}, map[string]space.Kind{}
	for name := range b.kernel.Workloads[0].Dims {
		dims[name], all[name] = space.Integer, space.Integer
	}
	for i, p := range b.kernel.params {
		if _, taken := all[p.Name]; taken {
			return b.keys.Params.keys[i].at.errorf("%s is both a dimension of the workloads and a parameter", p.Name)
		}
		all[p.Name] = p.Kind()
	}
	definitions := map[string]string{}
	for key, text := range b.keys.Let.all() {
		definitions[key.text] = text.text
	}
	var err error
	if b.all, err = space.NewScope(all, definitions); err != nil {
		return b.definitionError(err)
	}
	overDims := map[string]string{}
	for name, text := range definitions {
		e, err := b.all.Compile(text, space.Anything)
		if err != nil {
			return b.definitionError(err)
		}
		if !slices.ContainsFunc(e.Names(), func(n string) bool { _, ok := dims[n]; return !ok }) {
			overDims[name] = text
		}
	}
	if b.dims, err = space.NewScope(dims, overDims); err != nil {
		return b.definitionError(err)
	}
	b.dims.Exact = true
	return nil
}

// definitionError finds the definition that an error is about.
func (b *builder) definitionError(err error) error {
	for key, text := range b.keys.Let.all() {
		if strings.Contains(err.Error(), key.text+":") {
			return text.expressionError(err)
		}
	}
	return b.top().errorf("%s", err)
}

func (b *builder) constraints() (err error) {
	b.kernel.constraints, err = compileAll(b.all, b.keys.Constraints, space.Condition)
	return err
}

func (b *builder) fuzz() error {
	b.kernel.Fuzz = map[string][]int64{}
	pinned := b.kernel.pinned()
	b.kernel.unfuzzed = b.keys.Fuzz == nil
	for key, sizes := range b.keys.Fuzz.all() {
		if _, ok := b.kernel.Workloads[0].Dims[key.text]; !ok {
			return key.at.errorf("fuzz: %s is not a dimension of the workloads (%s)", key.text, b.kernel.Workloads[0].Dims)
		}
		if pinned[key.text] {
			return key.at.errorf("fuzz: %s cannot vary: an argument whose shape depends on it is read from a file", key.text)
		}
		for _, text := range sizes {
			size, err := text.size("fuzz: " + key.text)
			if err != nil {
				return err
			}
			b.kernel.Fuzz[key.text] = append(b.kernel.Fuzz[key.text], size)
		}
	}
	return nil
}

func (b *builder) work() (err error) {
	if b.keys.Work == nil {
		return nil
	}
	if b.kernel.Work.Flops, err = optional(b.all, b.keys.Work.Flops, space.Number); err != nil {
		return err
	}
	b.kernel.Work.Bytes, err = optional(b.all, b.keys.Work.Bytes, space.Number)
	return err
}

// size reads a size of a workload or of the fuzz matrix; what says whose.
func (s scalar) size(what string) (int64, error) {
	if s.value.Kind() != space.Integer || s.value.Integer() < 0 {
		return 0, s.at.errorf("%s is %q: a size is a whole number, not negative", what, s.text)
	}
	return s.value.Integer(), nil
}

// optional compiles an expression, or returns nil for none.
func optional(scope *space.Scope, text scalar, want space.Result) (*space.Expression, error) {
	if text.text == "" {
		return nil, nil
	}
	return compile(scope, text, want)
}

func compile(scope *space.Scope, text scalar, want space.Result) (*space.Expression, error) {
	e, err := scope.Compile(text.text, want)
	if err != nil {
		return nil, text.expressionError(err)
	}
	return e, nil
}

func compileAll(scope *space.Scope, texts []scalar, want space.Result) (all []*space.Expression, err error) {
	for _, text := range texts {
		e, err := compile(scope, text, want)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}
