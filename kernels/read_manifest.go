package kernels

import (
	"errors"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/kernels/document"
	"pawl/space"
)

// builder checks a decoded manifest for one backend and compiles it.
type builder struct {
	manifest *manifest
	files    section
	keys     keys
	on       Backend
	dims     *space.Scope // dimensions and definitions over them
	all      *space.Scope // also parameters
	kernel   *Kernel
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// Check returns what is wrong with the text of a manifest, for one backend; the file is for
// messages.
func Check(file string, content []byte, backend string) error {
	_, err := parse(file, content, backend)
	return err
}

func parse(file string, content []byte, backend string) (*Kernel, error) {
	if err := document.Check(content); err != nil {
		return nil, document.Locate(file, content, err)
	}
	if err := document.Filled(content); err != nil {
		return nil, document.Locate(file, content, err)
	}
	m := &manifest{}
	if err := document.Decode(content, "manifest", m); err != nil {
		return nil, document.Locate(file, content, err)
	}
	on := BackendOf(backend)
	if on.Name == "" {
		return nil, &NoSourceError{Kernel: m.Name.Text, Backend: backend}
	}
	merged := m.forBackend(on)
	b := &builder{manifest: m, files: merged, keys: merged.Keys, on: on}
	kernel, err := b.build()
	if err != nil {
		return nil, document.Locate(file, content, err)
	}
	return kernel, nil
}

func (b *builder) build() (*Kernel, error) {
	b.kernel = &Kernel{Name: b.manifest.Name.Text, Summary: b.manifest.Summary.Text, Backend: b.on.Name}
	for _, step := range []func() error{
		b.sizes, b.names, b.sources, b.workloads, b.params, b.scopes, b.constraints,
		b.arguments, b.fuzz, b.domain, b.defines, b.tolerance, b.decided, b.launch, b.work, b.flags, b.rivals, b.answers,
		b.commands, b.compiles,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for _, w := range b.kernel.Workloads {
		s, err := b.kernel.Space(w)
		if err != nil {
			return nil, b.defaultError(err)
		}
		b.kernel.initial = s.Default()
		k, err := b.kernel.For(w.Dims)
		if err == nil {
			_, err = k.Bind(w.Dims)
		}
		if err != nil {
			return nil, placeOf(err).Errorf("%s", err)
		}
	}
	if err := b.start(); err != nil {
		return nil, err
	}
	if err := b.objectives(); err != nil {
		return nil, err
	}
	return b.kernel, nil
}

func (b *builder) missing(key string) error {
	return document.Top.Errorf("%s is missing", key)
}

func (b *builder) names() error {
	switch name, entry := b.manifest.Name, b.keys.Entry; {
	case name.Text == "":
		return b.missing("name")
	case !plainName.MatchString(name.Text):
		return name.At.Errorf("name %q: letters, digits, dots, dashes and underscores only", name.Text)
	case b.on.Program:
		return nil
	case b.files.Source.Text == "" && b.manifest.Command != nil:
		return b.noSource()
	case entry.Text == "":
		return b.missing("entry")
	case !b.callable(entry.Text):
		return b.notCallable(entry)
	}
	b.kernel.Entry = b.keys.Entry.Text
	return nil
}

func (b *builder) sources() error {
	switch {
	case !b.manifest.has(b.on):
		return b.noSource()
	case b.on.Program:
		return nil
	}
	if b.files.Reference.Text == "" && !b.answered() {
		return document.Top.Errorf("reference is missing for backend %s: without one, or an answer for every output, no "+
			"result can be checked, and nothing unchecked is timed", b.on.Name)
	}
	b.kernel.Source, b.kernel.Reference = b.files.Source.Text, b.files.Reference.Text
	b.kernel.TileReference = slices.ContainsFunc(b.on.Languages, func(l Language) bool {
		return l.Tiles && l.Key == b.files.Reference.key
	})
	if b.kernel.TileReference && !b.tiled() {
		return b.files.Reference.At.Errorf("a reference below %s is one for such a source; write reference: {%s: %s} where "+
			"Python is to compute it", b.files.Reference.key, pythonKey, b.files.Reference.Text)
	}
	if err := b.units(); err != nil {
		return err
	}
	for _, backend := range Backends {
		if backend.Program {
			continue
		}
		merged := b.manifest.forBackend(backend)
		for _, file := range append([]document.Scalar{merged.Source.Scalar, merged.Reference.Scalar},
			merged.Source.units...) {
			if file.Text != "" {
				b.kernel.named = append(b.kernel.named, file.Text)
			}
		}
		if backend.Objects && len(merged.Keys.Compile) > 0 {
			b.kernel.suffixes = append(b.kernel.suffixes, path.Ext(merged.Source.Text))
		}
		for _, a := range merged.Keys.Args {
			b.kernel.data = slices.Concat(b.kernel.data, document.Texts(a.From), document.Texts(a.Answer))
		}
		b.kernel.flags = slices.Concat(b.kernel.flags, document.Texts(merged.Keys.Flags),
			collect.Each(merged.Keys.Include, func(folder document.Scalar) string { return "-I" + folder.Text }))
	}
	return nil
}

func (b *builder) noSource() error {
	return document.Top.Errorf("%w", &NoSourceError{Kernel: b.kernel.Name, Backend: b.on.Name})
}

func (b *builder) workloads() error {
	if b.on.Program && b.keys.Workloads == nil {
		b.kernel.Workloads = []Workload{{Name: "default", Dims: Dims{}}}
		return nil
	}
	if b.keys.Workloads.Len() == 0 {
		return b.missing("workloads")
	}
	var first []string
	for key, sizes := range b.keys.Workloads.All() {
		if !plainName.MatchString(key.Text) {
			return key.At.Errorf("workload name %q: letters, digits, dots, dashes and underscores only", key.Text)
		}
		w := Workload{Name: key.Text, Dims: Dims{}}
		for dim, text := range sizes.All() {
			size, err := sizeOf(text, dim.Text+" of workload "+key.Text)
			if err != nil {
				return err
			}
			w.Dims[dim.Text] = size
		}
		names := slices.Sorted(maps.Keys(w.Dims))
		if first == nil {
			first = names
		}
		if !slices.Equal(first, names) {
			return key.At.Errorf("workload %s has dimensions %s, the first has %s", key.Text, strings.Join(names, ", "),
				strings.Join(first, ", "))
		}
		b.kernel.Workloads = append(b.kernel.Workloads, w)
	}
	return nil
}

func (b *builder) params() error {
	if b.keys.Params.Len() == 0 {
		return b.missing("params")
	}
	for key, entry := range b.keys.Params.All() {
		p := space.Param{Name: key.Text}
		var err error
		if p.Values, err = entry.Values.read(key.Text); err != nil {
			return err
		}
		if entry.More != nil {
			if p.More, err = entry.More.read(key.Text); err != nil {
				return err
			}
			p.Values = space.SameKind(append(p.Values, p.More...))
			p.More = p.Values[len(p.Values)-len(p.More):]
		}
		if !entry.Default.Given() {
			return key.At.Errorf("parameter %s has no default", key.Text)
		}
		chosen, err := valueList{scalars: []document.Scalar{entry.Default}}.read(key.Text)
		if err != nil {
			return err
		}
		p.Default = space.SameKind(append(chosen, p.Values[0]))[0]
		p.Ordered = space.LikelyOrdered(p.Values)
		if entry.Ordered != nil {
			p.Ordered = *entry.Ordered
		}
		// A space of this parameter alone checks it where its place is known.
		if _, err := space.New([]space.Param{p}, nil, nil); err != nil {
			return key.At.Errorf("%s", err)
		}
		if entry.Reference && b.answered() {
			return key.At.Errorf("the result depends on parameter %s, and answers in files are right for one of its values: "+
				"write a reference", key.Text)
		}
		if entry.Reference {
			b.kernel.ReferenceParams = append(b.kernel.ReferenceParams, key.Text)
		}
		b.kernel.params = append(b.kernel.params, p)
	}
	return nil
}

// start reads the points that a search tries first. One that the constraints of a workload exclude is left out there.
func (b *builder) start() error {
	for _, entry := range b.keys.Start {
		point := b.kernel.initial
		for name, given := range entry.All() {
			param, found := collect.First(b.kernel.params, func(p space.Param) bool { return p.Name == name.Text })
			if !found {
				return name.At.Errorf("start: there is no parameter %s", name.Text)
			}
			chosen, err := valueList{scalars: []document.Scalar{given}}.read(name.Text)
			if err != nil {
				return err
			}
			value := space.SameKind(append(chosen, param.Values[0]))[0]
			if !slices.Contains(param.Values, value) {
				return given.At.Errorf("start: %s is not among the values of %s", given.Text, name.Text)
			}
			if point, err = point.With(name.Text, value); err != nil {
				return given.At.Errorf("start: %w", err)
			}
		}
		b.kernel.points.start = append(b.kernel.points.start, point)
	}
	return nil
}

// Start are the points that a search tries first, after the default.
func (k *Kernel) Start() []space.Point { return k.start }

func (b *builder) arguments() (err error) {
	if b.on.Program {
		return nil
	}
	if len(b.keys.Args) == 0 {
		return b.missing("args")
	}
	if b.kernel.Arguments, err = b.reader().List(b.keys.Args); err == nil && b.tiled() {
		err = b.tileArguments()
	}
	if err == nil && b.keys.Kinds != nil {
		b.kernel.kinds, err = arguments.KindNames(b.keys.Kinds)
	}
	return err
}

func (b *builder) reader() arguments.Reader {
	exact := *b.all
	exact.Exact = true
	return arguments.Reader{
		Sizes: b.dims,
		All:   &exact,
		First: b.kernel.Workloads[0].Dims.Environment(),
		GPU:   b.on.GPU,
	}
}

// scopes builds the two scopes of names. Definitions that use parameters are
// not visible where only sizes make sense, in the shape of an input.
func (b *builder) scopes() error {
	dims, all := map[string]space.Kind{}, map[string]space.Kind{}
	for name := range b.kernel.Workloads[0].Dims {
		dims[name], all[name] = space.Integer, space.Integer
	}
	for i, p := range b.kernel.params {
		if _, taken := all[p.Name]; taken {
			return b.keys.Params.Keys[i].At.Errorf("%s is both a dimension of the workloads and a parameter", p.Name)
		}
		all[p.Name] = p.Kind()
	}
	definitions := map[string]string{}
	for key, text := range b.keys.Let.All() {
		definitions[key.Text] = text.Text
	}
	var err error
	if b.all, err = space.NewScope(all, definitions); err != nil {
		return b.definitionError(err)
	}
	overDims := map[string]string{}
	for name, text := range definitions {
		e, err := b.all.Compile(text, space.Anything)
		if err != nil {
			return b.definitionError(&space.DefinitionError{Name: name, Err: err})
		}
		if !slices.ContainsFunc(e.Names(), func(n string) bool { _, ok := dims[n]; return !ok }) {
			overDims[name] = text
		}
	}
	if b.dims, err = space.NewScope(dims, overDims); err != nil {
		return b.definitionError(err)
	}
	b.dims.Exact, b.dims.Withheld = true, map[string]string{}
	for _, p := range b.kernel.params {
		b.dims.Withheld[p.Name] = "a parameter"
	}
	for name := range definitions {
		b.dims.Withheld[name] = "defined by parameters" // those over sizes are declared
	}
	return nil
}

// definitionError finds the definition that an error is about.
func (b *builder) definitionError(err error) error {
	if wrong, ok := errors.AsType[*space.DefinitionError](err); ok {
		if text, there := b.keys.Let.Get(wrong.Name); there {
			return text.ExpressionError(err)
		}
	}
	return document.Top.Errorf("%s", err)
}

func (b *builder) constraints() (err error) {
	b.kernel.constraints, err = document.CompileAll(b.all, b.keys.Constraints, space.Condition)
	return err
}

// defaultError puts what is wrong with the default point where the constraint is that it breaks.
func (b *builder) defaultError(err error) error {
	for _, text := range b.keys.Constraints {
		if strings.Contains(err.Error(), strconv.Quote(text.Text)) {
			return text.At.Errorf("%s", err)
		}
	}
	return document.Top.Errorf("%s", err)
}

func (b *builder) fuzz() error {
	b.kernel.Fuzz = map[string][]int64{}
	pinned := b.kernel.Arguments.Pinned()
	b.kernel.Unfuzzed = b.keys.Fuzz == nil
	for key, sizes := range b.keys.Fuzz.All() {
		if _, ok := b.kernel.Workloads[0].Dims[key.Text]; !ok {
			return key.At.Errorf("fuzz: %s is not a dimension of the workloads (%s)", key.Text, b.kernel.Workloads[0].Dims)
		}
		if pinned[key.Text] {
			return key.At.Errorf("fuzz: %s cannot vary: an argument whose shape depends on it is read from a file", key.Text)
		}
		for _, text := range sizes {
			size, err := sizeOf(text, "fuzz: "+key.Text)
			if err != nil {
				return err
			}
			b.kernel.Fuzz[key.Text] = append(b.kernel.Fuzz[key.Text], size)
		}
	}
	return nil
}

func (b *builder) work() (err error) {
	if b.keys.Work == nil {
		return nil
	}
	if b.kernel.Work.Flops, err = document.Optional(b.all, b.keys.Work.Flops, space.Number); err != nil {
		return err
	}
	b.kernel.Work.Bytes, err = document.Optional(b.all, b.keys.Work.Bytes, space.Number)
	return err
}

func (b *builder) tolerance() error {
	t := b.keys.Tolerance
	if b.on.Program {
		return nil
	}
	if t == nil {
		b.kernel.Tolerance = arguments.TypicalOf(b.kernel.Arguments)
		return nil
	}
	var err error
	b.kernel.stated, b.kernel.Tolerance, err = b.reader().Tolerance(*t, document.Top)
	return err
}

// sizeOf reads a size of a workload or of the fuzz matrix; what says whose.
func sizeOf(s document.Scalar, what string) (int64, error) {
	if s.Value.Kind() != space.Integer || s.Value.Integer() < 0 {
		return 0, s.At.Errorf("%s is %q: a size is a whole number, not negative", what, s.Text)
	}
	return s.Value.Integer(), nil
}
