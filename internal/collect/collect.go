// Package collect makes one list of another, which package slices leaves out: it is small for that reason.
package collect

import "slices"

// Each returns what is made of each element, nil of none.
func Each[T, R any](all []T, from func(T) R) []R {
	made := slices.Grow([]R(nil), len(all))
	for _, one := range all {
		made = append(made, from(one))
	}
	return made
}

// Where returns the elements that fit, nil where none does.
func Where[T any](all []T, fits func(T) bool) []T {
	var found []T
	for _, one := range all {
		if fits(one) {
			found = append(found, one)
		}
	}
	return found
}

// First returns the first element that fits, and whether there is one.
func First[T any](all []T, fits func(T) bool) (found T, there bool) {
	i := slices.IndexFunc(all, fits)
	if i < 0 {
		return found, false
	}
	return all[i], true
}

// Distinct returns the elements without those that an earlier one equals, nil of none.
func Distinct[T comparable](all []T) []T {
	seen := map[T]bool{}
	return Where(all, func(one T) bool {
		before := seen[one]
		seen[one] = true
		return !before
	})
}
