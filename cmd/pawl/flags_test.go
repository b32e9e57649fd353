package main

import (
	"reflect"
	"slices"
	"testing"

	"pawl/cmd/pawl/console"
	commands "pawl/cmd/pawl/studycmd"
	"pawl/studies"
)

// Every flag of pawl tune and pawl ask is either recorded with the study or known to change no
// result: a new one that is neither would be lost on resume and in the command that
// reproduces the study.
func TestEveryFlagOfAStudyIsRecorded(t *testing.T) {
	known := []string{"lanes", "out", "cache", "json", "resume", "gate", "policy", "baseline", "profile", "db", "on",
		"farm", "order-seed", "priority",
		"quick"} // recorded as a budget
	for _, field := range reflect.VisibleFields(reflect.TypeFor[studies.Options]()) {
		if name := field.Tag.Get("flag"); name != "" {
			known = append(known, name)
		}
	}
	unused := slices.Clone(known)
	for _, flag := range slices.Concat(commands.TuneCommand(console.Environment{}).Flags,
		commands.AskCommand(console.Environment{}).Flags) {
		if !slices.Contains(known, flag.Names()[0]) {
			t.Errorf("--%s is not recorded", flag.Names()[0])
		}
		unused = slices.DeleteFunc(unused, func(name string) bool { return name == flag.Names()[0] })
	}
	if len(unused) > 0 {
		t.Errorf("there are no flags %s", unused)
	}
}
