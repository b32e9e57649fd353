package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/internal/escape"
	"pawl/objective"
	"pawl/objective/cuda"
	"pawl/studies"
)

// role is what a flag of pawl tune means for a study that is resumed.
type role int

const (
	// defining flags decide what is measured and how. A resumed study takes them
	// from its record, and one that contradicts it is an error.
	defining role = iota
	// goals say how far to go. A resumed study goes on towards its old ones unless
	// it is given others.
	goal
	// local flags change no result.
	local
)

// option is a flag of pawl tune in a study's record.
type option struct {
	name string
	role role
	// usual is a value that goes without saying in a command.
	usual string
	// on are the backends where it has an effect; empty means everywhere.
	on []string
}

// tuneOptions are all flags of pawl tune, in the order in which a command names
// them. The record, what a resumed study takes from it, and the command that
// reproduces a study are made from it.
var tuneOptions = []option{
	{name: "workload"},
	{name: "sampler"},
	{name: "seed"},
	{name: "trials", role: goal},
	{name: "budget", role: goal},
	{name: "cold"},
	{name: "target", role: goal},
	{name: "regret", role: goal},
	{name: "backend"},
	{name: "record", on: []string{replayBackend}},
	{name: "compiler", on: []string{cuda.DeviceName}},
	{name: "caches", on: []string{cuda.DeviceName}},
	{name: "lock-clocks", on: []string{cuda.DeviceName}},
	{name: "samples", on: []string{cuda.DeviceName, "host"}},
	{name: "finalists", role: goal},
	{name: "rounds", role: goal},
	{name: "run-timeout", usual: timeoutFlag.Value.String(), on: []string{cuda.DeviceName, "host"}},
	{name: "compile-timeout", usual: compileFlag.Value.String(), on: []string{cuda.DeviceName, "host"}},
	{name: "lanes", role: local},
	{name: "out", role: local},
	{name: "cache", role: local},
	{name: "json", role: local},
	{name: "resume", role: local},
}

// studyOptions returns the flags that matter for a study, as text by name. What was
// not asked for is left out.
func studyOptions(c *cli.Context, head studies.Study) map[string]string {
	options := map[string]string{}
	trials, budget := limits(c)
	for _, o := range tuneOptions {
		if o.role == local || (len(o.on) > 0 && !slices.Contains(o.on, head.Backend)) {
			continue
		}
		text := ""
		switch o.name {
		case "workload":
			text = head.Workload
		case "backend":
			text = head.Backend
		case "record":
			text = head.Origin
		case "trials":
			text = strconv.Itoa(trials)
		case "budget":
			text = budget.String()
		default:
			text = fmt.Sprint(c.Value(o.name))
		}
		if !slices.Contains([]string{"", "0", time.Duration(0).String(), "false"}, text) || o.name == "seed" {
			options[o.name] = text
		}
	}
	return options
}

// recordedOptions returns the options of a study. One that was recorded before they
// were says little about them.
func recordedOptions(study studies.Study) (options map[string]string, complete bool) {
	if len(study.Options) > 0 {
		return study.Options, true
	}
	options = map[string]string{"seed": strconv.FormatUint(study.Seed, 10), "sampler": study.Sampler}
	if slices.Contains(strings.Fields(study.Command), "--cold") {
		options["cold"] = "true"
	}
	return options, false
}

// contradiction says what the command line wants otherwise than a study was begun
// with, or nothing.
func contradiction(c *cli.Context, current map[string]string, study studies.Study) string {
	recorded, complete := recordedOptions(study)
	for _, o := range tuneOptions {
		before, known := recorded[o.name]
		if o.role != defining || !c.IsSet(o.name) || (!known && !complete) || current[o.name] == before {
			continue
		}
		return fmt.Sprintf("study %d was begun %s, and the command line says %s", study.ID, said(o.name, before), said(o.name, current[o.name]))
	}
	return ""
}

func said(name, value string) string {
	switch {
	case value == "":
		return "without --" + name
	case value == "true":
		return "with --" + name
	}
	return "with --" + name + " " + value
}

// elsewhere says what differs between the machine of a study and this one, or
// nothing. The device is the same.
func elsewhere(study studies.Study, now objective.Environment) string {
	before := study.Environment
	for _, part := range []struct{ name, before, now string }{
		{"compiler", before.Compiler, now.Compiler},
		{"set of compiler flags", before.Flags, now.Flags},
		{"driver", before.Driver, now.Driver},
		{"system", before.System, now.System},
		{"number of cores", strconv.Itoa(before.Cores), strconv.Itoa(now.Cores)},
	} {
		if part.before != part.now {
			return fmt.Sprintf("study %d was measured with another %s: %q then, %q now", study.ID, part.name, part.before, part.now)
		}
	}
	return ""
}

// adopt gives the command line the values that a study was begun with. It reports
// whether that changes what is measured, and how.
func adopt(c *cli.Context, current map[string]string, study studies.Study) (changed bool, err error) {
	recorded, _ := recordedOptions(study)
	limited := c.IsSet("trials") || c.IsSet("budget")
	for _, o := range tuneOptions {
		value, known := recorded[o.name]
		skip := o.role == local || o.name == "workload" || o.name == "backend" || o.name == "record" ||
			(limited && (o.name == "trials" || o.name == "budget"))
		if skip || !known || c.IsSet(o.name) || current[o.name] == value {
			continue
		}
		if err := c.Set(o.name, value); err != nil {
			return changed, fmt.Errorf("study %d: --%s %s: %w", study.ID, o.name, value, err)
		}
		changed = changed || o.role == defining
	}
	return changed, nil
}

// reproduction is the command that runs a study with these options again.
func reproduction(env environment, head studies.Study, options map[string]string) string {
	var words []string
	for _, variable := range variables[head.Backend] {
		if value := env.getenv(variable); value != "" {
			words = append(words, variable+"="+escape.Shell(value))
		}
	}
	words = append(words, "pawl tune")
	if head.Backend != replayBackend {
		words = append(words, escape.Shell(head.Origin))
	}
	for _, o := range tuneOptions {
		value, given := options[o.name]
		switch {
		case !given || value == o.usual:
		case value == "true":
			words = append(words, "--"+o.name)
		default:
			words = append(words, "--"+o.name+" "+escape.Shell(value))
		}
	}
	return strings.Join(words, " ")
}

// variables of the environment that choose a backend's compiler.
var variables = map[string][]string{
	"host":          {"CC"},
	cuda.DeviceName: {"NVCC", "NVRTC", "NVCC_CCBIN", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES"},
}
