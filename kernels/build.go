package kernels

import (
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
var architectureName = regexp.MustCompile(`^sm_[0-9]{2,3}a?$`)
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// parse reads a manifest and returns the kernel for one backend.
func parse(file string, content []byte, backend string) (*Kernel, error) {
	m, err := decode(content)
	if err != nil {
		return nil, locate(file, content, err)
	}
	merged := m.forBackend(backend)
	b := &builder{manifest: m, files: merged, keys: merged.Keys, backend: backend}
	kernel, err := b.build()
	if err != nil {
		return nil, locate(file, content, err)
	}
	return kernel, nil
}

func (b *builder) build() (*Kernel, error) {
	b.kernel = &Kernel{Name: b.manifest.Name.text, Summary: b.manifest.Summary.text, Backend: b.backend}
	for _, step := range []func() error{
		b.names, b.sources, b.workloads, b.params, b.scopes, b.constraints,
		b.arguments, b.fuzz, b.domain, b.defines, b.tolerance, b.launch, b.work, b.flags,
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
			return nil, b.top().errorf("%s", err)
		}
		env := w.Dims.Environment()
		env.Set(b.kernel.initial)
		if _, err := b.kernel.Boxes(env); err != nil {
			return nil, b.top().errorf("the default point at workload %s: %s", w.Name, err)
		}
	}
	return b.kernel, nil
}

// top is the place for what is missing altogether.
func (b *builder) top() position { return position{1, 1} }

func (b *builder) missing(key string) error {
	return b.top().errorf("%s is missing", key)
}

func (b *builder) names() error {
	if b.manifest.Name.text == "" {
		return b.missing("name")
	}
	if !plainName.MatchString(b.manifest.Name.text) {
		return b.manifest.Name.at.errorf("name %q: letters, digits, dots, dashes and underscores only", b.manifest.Name.text)
	}
	if b.keys.Entry.text == "" {
		return b.missing("entry")
	}
	if !cIdentifier.MatchString(b.keys.Entry.text) {
		return b.keys.Entry.at.errorf("entry %q is not a function name", b.keys.Entry.text)
	}
	b.kernel.Entry = b.keys.Entry.text
	return nil
}

func (b *builder) sources() error {
	if b.files.Source.text == "" {
		cause := &NoSourceError{Kernel: b.kernel.Name, Backend: b.backend}
		return &mistake{at: b.top(), message: cause.Error(), cause: cause}
	}
	if b.files.Reference.text == "" {
		return b.top().errorf("reference is missing for backend %s: without one no result can be checked, and nothing unchecked is timed", b.backend)
	}
	b.kernel.Source, b.kernel.Reference, b.kernel.Naive = b.files.Source.text, b.files.Reference.text, b.files.Naive.text
	return nil
}

func (b *builder) workloads() error {
	if b.keys.Workloads == nil || len(b.keys.Workloads.keys) == 0 {
		return b.missing("workloads")
	}
	var first []string
	for i, key := range b.keys.Workloads.keys {
		if !plainName.MatchString(key.text) {
			return key.at.errorf("workload name %q: letters, digits, dots, dashes and underscores only", key.text)
		}
		w := Workload{Name: key.text, Dims: Dims{}}
		for j, dim := range b.keys.Workloads.values[i].keys {
			size := b.keys.Workloads.values[i].values[j]
			if size.value.Kind() != space.Integer || size.value.Integer() < 0 {
				return size.at.errorf("%s of workload %s is %q: a size is a whole number, not negative", dim.text, key.text, size.text)
			}
			w.Dims[dim.text] = size.value.Integer()
		}
		names := sortedKeys(w.Dims)
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
	if b.keys.Params == nil || len(b.keys.Params.keys) == 0 {
		return b.missing("params")
	}
	for i, key := range b.keys.Params.keys {
		entry := b.keys.Params.values[i]
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
	if b.keys.Let != nil {
		for i, key := range b.keys.Let.keys {
			definitions[key.text] = b.keys.Let.values[i].text
		}
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
	return nil
}

// definitionError finds the definition that an error is about.
func (b *builder) definitionError(err error) error {
	if b.keys.Let != nil {
		for i, key := range b.keys.Let.keys {
			if strings.Contains(err.Error(), key.text+":") {
				return b.keys.Let.values[i].expressionError(err)
			}
		}
	}
	return b.top().errorf("%s", err)
}

func (b *builder) constraints() error {
	for _, text := range b.keys.Constraints {
		e, err := b.all.Compile(text.text, space.Condition)
		if err != nil {
			return text.expressionError(err)
		}
		b.kernel.constraints = append(b.kernel.constraints, e)
	}
	return nil
}

func (b *builder) fuzz() error {
	b.kernel.Fuzz = map[string][]int64{}
	if b.keys.Fuzz == nil {
		return nil
	}
	for i, key := range b.keys.Fuzz.keys {
		if _, ok := b.kernel.Workloads[0].Dims[key.text]; !ok {
			return key.at.errorf("fuzz: %s is not a dimension of the workloads (%s)", key.text, b.kernel.Workloads[0].Dims)
		}
		for _, size := range b.keys.Fuzz.values[i] {
			if size.value.Kind() != space.Integer || size.value.Integer() < 0 {
				return size.at.errorf("fuzz: %s is %q: a size is a whole number, not negative", key.text, size.text)
			}
			b.kernel.Fuzz[key.text] = append(b.kernel.Fuzz[key.text], size.value.Integer())
		}
	}
	return nil
}

func (b *builder) work() error {
	if b.keys.Work == nil {
		return nil
	}
	var err error
	if b.kernel.Work.Flops, err = b.optional(b.keys.Work.Flops, space.Number); err != nil {
		return err
	}
	b.kernel.Work.Bytes, err = b.optional(b.keys.Work.Bytes, space.Number)
	return err
}

// optional compiles an expression over everything, or returns nil for none.
func (b *builder) optional(text scalar, want space.Result) (*space.Expression, error) {
	if text.text == "" {
		return nil, nil
	}
	return compile(b.all, text, want)
}

func compile(scope *space.Scope, text scalar, want space.Result) (*space.Expression, error) {
	e, err := scope.Compile(text.text, want)
	if err != nil {
		return nil, text.expressionError(err)
	}
	return e, nil
}

func (b *builder) flags() error {
	for _, flag := range b.keys.Flags {
		b.kernel.Flags = append(b.kernel.Flags, flag.text)
	}
	b.kernel.ArchSpecific = b.keys.ArchSpecific != nil && *b.keys.ArchSpecific
	if only := b.keys.Architecture; only.text != "" {
		if !architectureName.MatchString(only.text) {
			return only.at.errorf("architecture %q: a name such as sm_90a", only.text)
		}
		b.kernel.Architecture = only.text
		b.kernel.ArchSpecific = strings.HasSuffix(only.text, "a")
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
