package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/objective/worker"
	"pawl/search/sampler"
	"pawl/studies/tune"
)

// completionFlag ends the words before the cursor; the word under it follows.
const completionFlag = "--generate-bash-completion"

// completing is a command line that is being typed.
type completing struct {
	place
	// given are the values of flags so far, and positional the other words.
	given      map[string]string
	positional []string
	// flag is the one whose value is being typed, empty for none.
	flag    string
	current string
}

// complete prints what may stand where the cursor is, one per line. Whatever is wrong on the
// way is nobody's business then: there are fewer suggestions.
func complete(app *cli.App, arguments []string, w io.Writer) {
	at := slices.Index(arguments, completionFlag)
	c := completing{given: map[string]string{}}
	c.parse(app, arguments[1:at])
	if at+1 < len(arguments) {
		c.current = arguments[at+1]
	}
	for _, candidate := range c.candidates() {
		if strings.HasPrefix(candidate, c.current) {
			fmt.Fprintln(w, candidate)
		}
	}
}

// parse reads the words before the cursor.
func (c *completing) parse(app *cli.App, words []string) {
	c.place, words = descend(app, words)
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if len(word) < 2 || word[0] != '-' {
			c.positional = append(c.positional, word)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
		takesValue, _ := lookup(c.flags, word)
		switch {
		case hasValue:
			c.given[name] = value
		case takesValue && len(words) == 0:
			c.flag = canonical(c.flags, name)
		case takesValue:
			c.given[canonical(c.flags, name)], words = words[0], words[1:]
		}
	}
}

// canonical is the first name of a flag.
func canonical(flags []cli.Flag, name string) string {
	if f, known := flagNamed(flags, name); known {
		return f.Names()[0]
	}
	return name
}

func (c completing) candidates() []string {
	if c.flag != "" {
		return c.values()
	}
	var words []string
	if len(c.positional) == 0 {
		for _, sub := range c.commands {
			words = append(words, sub.Name)
		}
	}
	if strings.HasPrefix(c.current, "-") || c.command == nil {
		for _, f := range c.flags {
			if _, twice := c.given[f.Names()[0]]; !twice {
				words = append(words, "--"+f.Names()[0])
			}
		}
		return append(words, "--help")
	}
	usage := strings.Trim(c.command.ArgsUsage, "[]")
	switch {
	case strings.Contains(usage, "KERNEL") && (len(c.positional) == 0 || strings.Contains(usage, "...")):
		words = append(words, kernelNames()...)
	case usage == "bash|zsh|fish" && len(c.positional) == 0:
		words = append(words, strings.Split(usage, "|")...)
	}
	return words
}

// values are those of the flag that is being typed.
func (c completing) values() []string {
	switch c.flag {
	case "workload":
		names := collect.Each(c.kernel().Workloads, func(w kernels.Workload) string { return w.Name })
		if c.command.Name == "tune" {
			names = append(names, "all")
		}
		return names
	case "sampler":
		return sampler.Names()
	case "backend":
		if c.command.Name == "tune" {
			return append(slices.Clone(devices.Backends), tune.Replay)
		}
		return devices.Backends
	case "compiler":
		return devices.Compilers
	case "caches":
		return []string{string(worker.Cold), string(worker.Warm), string(worker.Flushed)}
	case "kernel":
		return kernelNames()
	}
	return nil
}

// kernelNames are the embedded kernels and those here.
func kernelNames() []string {
	return append(kernels.Names(), kernelFolders()...)
}

// kernelFolders are the folders here that have a manifest.
func kernelFolders() []string {
	var names []string
	for _, pattern := range []string{"*", "*/*"} {
		found, _ := filepath.Glob(filepath.Join(pattern, kernels.ManifestName)) // the patterns are right
		for _, manifest := range found {
			names = append(names, "./"+filepath.ToSlash(filepath.Dir(manifest)))
		}
	}
	return names
}

// kernel is the one that the command line names; an empty one where it cannot be read.
func (c completing) kernel() *kernels.Kernel {
	name := tune.DefaultKernel
	if len(c.positional) > 0 {
		name = c.positional[0]
	}
	k, err := kernels.LoadAny(name, c.given["backend"])
	if err != nil {
		return &kernels.Kernel{}
	}
	return k
}
