package studies

import (
	"encoding/json"
	"strings"
	"testing"
)

// A study as reports have had it before its subject and annotations had types of their own.
func TestAnOldStudyReadsTheSame(t *testing.T) {
	const head = `{"id":3,"kernel":"k","origin":"./k","workload":"w","dims":"N=1","backend":"host","sampler":"auto",` +
		`"seed":7,`
	const tail = `,"note":"odd","applied":"2026-01-02","rivals":{"vendor":0.5}}`
	var s Study
	if err := json.Unmarshal([]byte(head+`"source":"s"`+tail), &s); err != nil {
		t.Fatal(err)
	}
	if s.Kernel != "k" || s.Backend != "host" || s.Seed != 7 || s.Note != "odd" || s.Rivals["vendor"] != 0.5 {
		t.Errorf("%+v", s)
	}
	text, err := json.Marshal(s)
	if err != nil || !strings.HasPrefix(string(text), head) || !strings.HasSuffix(string(text), tail) {
		t.Errorf("%s, %v", text, err)
	}
}
