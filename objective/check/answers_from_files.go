package check

import (
	"fmt"
	"maps"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
	"pawl/objective/worker"
)

// answered returns the cases of a kernel whose right answers are in files: they are known
// for the workload's own inputs, and for no others. What varies is where the buffers lie.
func answered(w kernels.Workload, seed uint64, layouts ...worker.Layout) []Case {
	return collect.Each(layouts, func(layout worker.Layout) Case { return Case{Dims: w.Dims, Seed: seed, Layout: layout} })
}

// unanswered says what could not be checked of such a kernel.
func unanswered(k *kernels.Kernel, w kernels.Workload) string {
	var files []string
	if bindings, err := k.Bind(w.Dims); err == nil {
		for _, b := range bindings {
			if b.Answer != nil {
				files = append(files, b.Answer.Name)
			}
		}
	}
	return fmt.Sprintf("results were held against %s, which is right for the inputs of workload %s only: other sizes "+
		"and other inputs could not be checked, so a kernel that is wrong elsewhere, or that knows this answer, would "+
		"pass; a reference would have it checked", strings.Join(files, " and "), w.Name)
}

// try evaluates the formulas of a case's inputs, each once.
func (o *Oracle) try(c Case, bindings []arguments.Binding) error {
	for _, b := range bindings {
		if b.Fields == nil && (b.Content == nil || b.Content.Kind != arguments.FormulaFill) {
			continue
		}
		key := b.Name + " " + c.key()
		known, tried := o.tried.Load(key)
		if !tried {
			known = inputs.Try(b, c.Seed)
			o.tried.Store(key, known)
		}
		if err, _ := known.(error); err != nil {
			return fmt.Errorf("kernel %s at %s: %w", o.kernel.Name, c.Dims, err)
		}
	}
	return nil
}

func (o *Oracle) read(c Case, bindings []arguments.Binding) ([][]byte, error) {
	known := false
	for _, w := range o.kernel.Workloads {
		known = known || maps.Equal(w.Dims, c.Dims)
	}
	if !known || c.family() != arguments.Declared {
		return nil, fmt.Errorf("there is no answer for %s with inputs of the family %s: files have those for the workloads' "+
			"own inputs only", c.Dims, c.family())
	}
	source := inputs.Source{Folder: o.kernel.Dir}
	var answers [][]byte
	for _, b := range bindings {
		if !b.Out {
			continue
		}
		content := make([]byte, b.Bytes())
		if err := source.Read(content, b.Answer); err != nil {
			return nil, fmt.Errorf("the answer for %s: %w", b.Name, err)
		}
		answers = append(answers, content)
	}
	return answers, nil
}
