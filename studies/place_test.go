package studies

import (
	"os/exec"
	"strings"
	"testing"
)

// Only what differs from the defaults is said, and only to a command that has the flag.
func TestACommandFindsThePlace(t *testing.T) {
	everything := Place{Out: "o", DB: "d.db", Policy: "p.yaml", Baseline: "b.json", Farm: "f"}
	server := Place{DB: "postgres://u:secret@h:5/d?sslmode=require&user=é&password=secret"}
	dashes := Study{Subject: Subject{Origin: "k", Workload: "it's", Backend: "host"},
		Reading: Reading{Place: Place{Out: "--", DB: "-x"}}}
	for want, got := range map[string]string{
		"pawl apply 3": Place{}.Pawl("apply", 3),
		"pawl tune":    Place{Out: DefaultOut, Baseline: DefaultBaseline}.Pawl("tune"),

		"pawl apply 3 --manifest --out o --db d.db":                               everything.Pawl("apply", 3, "--manifest"),
		"pawl tune --resume --out o --db d.db":                                    everything.Pawl("tune", "--resume"),
		"pawl tune --on h200 --out o --db d.db --farm f":                          everything.Pawl("tune", "--on", "h200"),
		"pawl serve --out o --db d.db --baseline b.json":                          everything.Pawl("serve"),
		"pawl baseline accept --baseline b.json":                                  everything.Pawl("baseline", "accept"),
		"pawl farm worker --db d.db --farm f":                                     everything.Pawl("farm", "worker"),
		"pawl gate --study 3 --out o --db d.db --policy p.yaml --baseline b.json": everything.Pawl("gate", "--study", 3),

		"pawl apply 1 --db 'postgres://u@h:5/d?sslmode=require&user=%C3%A9'": server.Pawl("apply", 1),
		"pawl apply 1 --db postgres://h/d":                                   Place{DB: "postgres://h/d"}.Pawl("apply", 1),

		`pawl tune k --workload 'it'\''s' --resume --backend host --out -- --db -x`: dashes.Resume(),

		"X=1 pawl tune k --out o": Study{Command: "X=1 pawl tune k", Reading: Reading{Place: Place{Out: "o"}}}.Again(),
	} {
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// A shell hands on every word as it is.
func TestACommandIsQuoted(t *testing.T) {
	words := []any{"apply", "a b", "it's", `"`, "$HOME", "`id`", "*", "", "~", "-x", "a\\", "ä;b&c|d>e<f(g)#h"}
	line := Place{Out: "-o p", DB: "\t!"}.Pawl(words...)
	printed, err := exec.Command("sh", "-c", `printf '<%s>' `+strings.TrimPrefix(line, "pawl ")).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := "<apply><a b><it's><\"><$HOME><`id`><*><><~><-x><a\\><ä;b&c|d>e<f(g)#h><--out><-o p><--db><\t!>"
	if string(printed) != want {
		t.Errorf("%s\ngives %s\nwant  %s", line, printed, want)
	}
}
