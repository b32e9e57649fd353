package scaffold

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels/csource"
)

// serial is what functions of OpenMP are on one thread: a reference is compiled and linked without it.
var serial = map[string]string{
	"omp_get_max_threads()": "1", "omp_get_num_threads()": "1", "omp_get_thread_num()": "0", "omp_get_num_procs()": "1",
	"omp_in_parallel()": "0", "omp_get_wtime()": "0.0", "omp_set_num_threads(n)": "((void)(n))",
	"omp_set_dynamic(n)": "((void)(n))", "omp_set_nested(n)": "((void)(n))",
}

// parallel reports whether a source has OpenMP's pragmas, which a compiler skips unless told, or its functions.
func (u unit) parallel() bool {
	return csource.Index(u.Pragmas, "omp") >= 0 || len(u.parallelCalls()) > 0
}

// parallelCalls are the functions of OpenMP that a source calls.
func (u unit) parallelCalls() []string {
	var names []string
	for i, t := range u.Tokens {
		if strings.HasPrefix(t.Text, "omp_") && csource.At(u.Tokens, i+1) == "(" {
			names = append(names, t.Text)
		}
	}
	return collect.Distinct(names)
}

// onOneThread replaces those that a source calls, and names the others.
func (u unit) onOneThread() (text string, others []string) {
	calls := u.parallelCalls()
	for _, call := range slices.Sorted(maps.Keys(serial)) {
		name, _, _ := strings.Cut(call, "(")
		if at := slices.Index(calls, name); at >= 0 {
			text += fmt.Sprintf("#define %s %s\n", call, serial[call])
			calls = slices.Delete(calls, at, at+1)
		}
	}
	if text != "" {
		text = "#include <omp.h>\n" + text
	}
	return text, calls
}
