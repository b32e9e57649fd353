package host_test

import (
	"strings"
	"testing"

	"pawl/objective/host"
)

// A pragma unrolls by a parameter, which is a macro everywhere else.
func TestPragmasUnrollByParameters(t *testing.T) {
	files := map[string]string{}
	for name, content := range doubling {
		files[name] = strings.NewReplacer("for (int i = 0; i < N; i++) {\n\t\ty[i] = x[i];",
			"#if STEPS > 2\n#error the macro must stay one\n#endif\n#pragma GCC unroll STEPS\n\tfor (int i = 0; i < N; i++) "+
				"{\n\t\ty[i] = x[i];").Replace(content)
	}
	b := open(t, files, host.Options{})
	for _, point := range []string{"STEPS=1", "STEPS=2"} {
		if outcome := b.measure(t, point, 0); outcome.Failure != nil {
			t.Errorf("%s: %v", point, outcome.Failure)
		}
	}
	p, err := b.Prepare(t.Context(), b.at(t, "STEPS=3"))
	if err != nil || p.Failure == nil || !strings.Contains(p.Failure.Detail, "doubling.c:4:") {
		t.Errorf("%v, %v", p.Failure, err)
	}
}
