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
