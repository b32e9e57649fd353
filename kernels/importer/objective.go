package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/kernels"
	"pawl/space"
)

// higherIsBetter are the objectives that Kernel Tuner knows the direction of.
var higherIsBetter = map[string]bool{
	"cost": false, "loss": false, "fitness": true, "GFLOP/s": true, "TFLOP/s": true, "GB/s": true, "TB/s": true,
	"GFLOPS/W": true, "TFLOPS/W": true, "GFLOP/J": true, "TFLOP/J": true,
}

// takeObjective writes what the script's points are compared by: a metric over the time and the
// parameters. Parameters in it are taken to change the work of a launch.
func (d *description) takeObjective(c callObjective) {
	name, _ := c.Objective.(string)
	for _, metric := range slices.Sorted(maps.Keys(c.Metrics)) {
		if metric != name {
			d.gap("the metric %s (%s) was not carried over: work: {flops, bytes} gives throughput", metric,
				c.Metrics[metric].Python)
		}
	}
	if name == "" || name == "time" {
		return
	}
	higher, known := higherIsBetter[name]
	if c.Higher != nil {
		higher, known = *c.Higher, true
	}
	metric, defined := c.Metrics[name]
	switch {
	case name == kernels.Energy && !defined:
		d.objective = "minimize: energy"
		return
	case !defined:
		d.gap("the objective is %s, which is no metric of the script, and pawl minimizes time", name)
		return
	case metric.Gap != "" || metric.Text == "":
		d.gap("the objective %s (%s) was not carried over, and pawl minimizes time: %s", name, metric.Python, metric.Gap)
		return
	case !known:
		d.gap("the script does not say whether more of its objective %s is better: state minimize or maximize: %s", name,
			metric.Text)
		return
	}
	if err := d.measures(metric.Text); err != nil {
		d.gap("the objective %s (%s) was not carried over, and pawl minimizes time: %v", name, metric.Python, err)
		return
	}
	key := "minimize"
	if higher {
		key = "maximize"
	}
	d.objective = fmt.Sprintf("%s: %s # %s", key, quote(metric.Text), comment(name))
	for _, p := range d.params {
		if wordOf(p.name).MatchString(metric.Text) && len(p.values) > 1 {
			d.referenceParams = append(d.referenceParams, p.name)
		}
	}
	if len(d.referenceParams) > 0 {
		d.note("the objective depends on %s, so the reference is given its value too (reference: true): strike that where "+
			"the result is the same for all of them", strings.Join(d.referenceParams, ", "))
	}
}

// measures makes sure that a formula is one of something that is measured.
func (d *description) measures(text string) error {
	scope, err := d.scope()
	if err != nil {
		return err
	}
	formula, err := scope.Measuring([]string{kernels.Time}).Compile(text, space.Number)
	if err == nil && !slices.Contains(formula.Names(), kernels.Time) {
		err = fmt.Errorf("it does not use the time, so that nothing would be measured")
	}
	return err
}

// takeOtherSources takes along what a script names behind its first source, which that includes.
func (d *description) takeOtherSources(paths []string) {
	for _, path := range paths[min(1, len(paths)):] {
		if !slices.ContainsFunc(d.files, func(f kernels.File) bool { return strings.HasSuffix("/"+path, "/"+f.Name) }) {
			d.gap("the script names %s behind its source, which does not include it: include it, and put it into the "+
				"kernel's folder", path)
		}
	}
}
