// Package thorough says how much of a long test is run; it is small because that is one question.
//
// Some tests are long by their nature: every corner of every kernel's space, every wrong
// kernel, a hundred kills. A plain go test runs a small sample of each, so that the whole
// takes minutes; where PAWL_TEST_ALL is set, as .ci/run does, each runs in full.
package thorough

import (
	"os"
	"testing"
)

// Variable is the environment variable that asks for all.
const Variable = "PAWL_TEST_ALL"

// All reports whether all was asked for.
func All() bool { return os.Getenv(Variable) != "" }

// Count is how many of something a test does: a few, or many where all was asked for.
func Count(few, many int) int {
	if All() {
		return many
	}
	return few
}

// Some is at most few of a list at even distances, its first one among them, or all of it
// where all was asked for.
func Some[T any](list []T, few int) []T {
	if All() || few >= len(list) {
		return list
	}
	chosen := make([]T, few)
	for i := range chosen {
		chosen[i] = list[i*len(list)/few]
	}
	return chosen
}

// Only skips a test of which nothing smaller is worth running.
func Only(t testing.TB, why string) {
	t.Helper()
	if !All() {
		t.Skipf("%s: %s=1 runs it", why, Variable)
	}
}
