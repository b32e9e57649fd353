package kernels

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/kernels/document"
	"pawl/space"
)

// UnmarshalYAML accepts one launch, or a list of launches that follow each other.
func (l *launchEntry) UnmarshalYAML(node ast.Node) error {
	l.at = document.PlaceOf(node)
	nodes := []ast.Node{node}
	if list, ok := node.(*ast.SequenceNode); ok {
		l.list, nodes = true, list.Values
	}
	for _, n := range nodes {
		step := stepEntry{at: document.PlaceOf(n)}
		if err := yaml.NodeToValue(n, &step, yaml.Strict()); err != nil {
			return err
		}
		if step.Reference != nil {
			if l.reference != nil {
				return step.at.Errorf("launch has two references")
			}
			l.reference, step.Reference = step.Reference, nil
			if l.list && (step.Entry.Text != "" || step.Args != nil || step.Grid != nil || step.Block != nil) {
				return step.at.Errorf("in a list of launches the reference is an element of its own: {reference: {grid: ..., " +
					"block: ...}}")
			}
			if l.list {
				continue
			}
		}
		l.steps = append(l.steps, step)
	}
	switch {
	case l.list && len(l.steps) == 0:
		return l.at.Errorf("the list of launches is empty")
	case len(l.steps) > mostSteps:
		return l.at.Errorf("launch has %d entries, at most %d are supported", len(l.steps), mostSteps)
	}
	return nil
}

// mostSteps bounds the launches of a kernel.
const mostSteps = 100

// launch compiles the formulas of the launches.
func (b *builder) launch() error {
	l := b.keys.Launch
	if l == nil {
		l = &launchEntry{steps: []stepEntry{{}}, at: document.Top}
	}
	launch := &b.kernel.Launch
	for _, entry := range l.steps {
		step, err := b.step(entry, l.list)
		if err != nil {
			return err
		}
		launch.Steps = append(launch.Steps, step)
	}
	if err := b.allTaken(); err != nil {
		return err
	}
	launch.Reference = Step{
		Entry:     PlainName(b.kernel.Entry),
		Arguments: b.positions(func(a arguments.Argument) bool { return !a.Scratch }),
	}
	switch {
	case l.reference != nil && (l.reference.Grid == nil || l.reference.Block == nil):
		return l.at.Errorf("the launch of the reference needs a grid and a block")
	case l.reference != nil:
		var err error
		launch.Reference.LaunchFormulas, err = b.formulas(b.dims, *l.reference)
		return err
	case l.list && b.on.GPU:
		return l.at.Errorf("a list of launches needs an element {reference: {grid: ..., block: ...}}: the reference is "+
			"one function, %s, that takes all arguments but scratch", launch.Reference.Entry)
	}
	if b.tiled() && !b.answered() && !isPython(b.files.Reference.Text) {
		return l.at.Errorf("launch needs reference: {grid: ..., block: ...}: %s is not launched like %s",
			b.files.Reference.Text, b.files.Source.Text)
	}
	launch.Reference.LaunchFormulas, launch.Inherited = launch.Steps[0].LaunchFormulas, true
	return nil
}

// step compiles one launch, alone or in a list.
func (b *builder) step(entry stepEntry, listed bool) (step Step, err error) {
	step.Entry = entry.Entry.Text
	switch {
	case !listed && (step.Entry != "" || entry.Args != nil):
		return step, entry.at.Errorf("entry and args belong to a list of launches; a single one calls the kernel's entry " +
			"with all arguments")
	case !listed:
		step.Entry = b.kernel.Entry
	case step.Entry == "":
		return step, entry.at.Errorf("a launch in a list needs an entry: the function that it calls")
	case !b.callable(step.Entry):
		return step, b.notCallable(entry.Entry)
	}
	named := entry.Entry
	if !listed {
		named = b.keys.Entry
	}
	if err := b.entryParameters(named); err != nil {
		return step, err
	}
	if step.Arguments, err = b.taken(entry); err != nil {
		return step, err
	}
	if step.Threads, err = document.Optional(b.all, entry.Threads, space.WholeNumber); err != nil {
		return step, err
	}
	if b.tiled() {
		if entry, err = b.tileLaunch(entry, listed); err != nil {
			return step, err
		}
	}
	if b.on.GPU && (entry.Grid == nil || entry.Block == nil) {
		at := entry.at
		if !listed {
			at = document.Top
		}
		return step, at.Errorf("launch needs a grid and a block for backend %s", b.on.Name)
	}
	step.LaunchFormulas, err = b.formulas(b.all, gridEntry{entry.Grid, entry.Block, entry.Shared})
	return step, err
}

// taken are the positions of what a launch takes: all parameters where it names none.
func (b *builder) taken(entry stepEntry) (positions []int, err error) {
	if entry.Args == nil {
		return b.positions(func(a arguments.Argument) bool { return a.Symbol == "" }), nil
	}
	for _, name := range entry.Args {
		at := slices.IndexFunc(b.kernel.Arguments, func(a arguments.Argument) bool { return a.Name == name.Text })
		if at < 0 {
			names := collect.Each(b.kernel.Arguments, func(a arguments.Argument) string { return a.Name })
			return nil, name.At.Errorf("launch: no argument %q; there are %s", name.Text, strings.Join(names, ", "))
		}
		if symbol := b.kernel.Arguments[at].Symbol; symbol != "" {
			return nil,
				name.At.Errorf("launch: argument %s is the variable %s of the source; no launch takes it", name.Text, symbol)
		}
		positions = append(positions, at)
	}
	return positions, nil
}

// positions are those of the arguments that something holds for.
func (b *builder) positions(holds func(arguments.Argument) bool) (positions []int) {
	for i, a := range b.kernel.Arguments {
		if holds(a) {
			positions = append(positions, i)
		}
	}
	return positions
}

// allTaken makes sure that every parameter is one of some launch.
func (b *builder) allTaken() error {
	for i, a := range b.kernel.Arguments {
		if a.Symbol != "" ||
			slices.ContainsFunc(b.kernel.Launch.Steps, func(s Step) bool { return slices.Contains(s.Arguments, i) }) {
			continue
		}
		what := "leave it out, or name it in the args of a launch"
		if a.Written() {
			what = "nobody would write it: name it in the args of a launch"
		}
		return b.keys.Args[i].Name.At.Errorf("argument %s is given to no launch; %s", a.Name, what)
	}
	return nil
}
