// Package collect makes one list of another, which package slices leaves out: it is small for that reason.
package collect

// Each returns what is made of each element, nil of none.
func Each[T, R any](all []T, from func(T) R) []R {
	var made []R
	for _, one := range all {
		made = append(made, from(one))
	}
	return made
}
