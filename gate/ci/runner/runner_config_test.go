package runner

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pawl/gate/reporting"
)

const example = `# a machine
wake: [cloud, start, --zone=a, "gpu 1"]
check: [ssh, gpu-1, nvidia-smi]
sleep: [cloud, stop, 7]
price_per_hour: 2.99
currency: EUR
longest: 90m
patience: 3m
`

func TestParse(t *testing.T) {
	got, err := Parse(FileName, []byte(example))
	want := &Config{
		Wake: []string{"cloud", "start", "--zone=a", "gpu 1"}, Check: []string{"ssh", "gpu-1", "nvidia-smi"},
		Sleep: []string{"cloud", "stop", "7"},
		Price: 2.99, Currency: "EUR", Longest: 90 * time.Minute, Patience: 3 * time.Minute, pause: 2 * time.Second,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = Parse(FileName, []byte("wake: [a]\ncheck: [b]\nsleep: [c]"))
	if err != nil || got.Longest != 2*time.Hour || got.Patience != 5*time.Minute || got.Price != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestMistakesHaveTheirPlace(t *testing.T) {
	whole := "wake: [a]\ncheck: [b]\nsleep: [c]\n"
	for text, want := range map[string]string{
		whole + "shell: true":                              `p:4:1: unknown field "shell"`,
		whole + "longest: soon":                            `p:4:10: "soon" is not a time`,
		whole + "longest: -1h":                             `p:4:10: "-1h" is not a time`,
		whole + "longest: 10000h":                          "at most a week",
		whole + "patience: 0s":                             "not a time",
		whole + "patience: 3h":                             "longest is 2h0m0s, less than the patience of 3h0m0s",
		whole + "longest: 1m":                              "longest is 1m0s",
		whole + "price_per_hour: free":                     "not a price",
		whole + "price_per_hour: .nan\ncurrency: E":        "expected one value",
		whole + "price_per_hour: -1":                       "not a price",
		whole + "price_per_hour: 3":                        "a price needs its currency",
		whole + "currency: '<b>'":                          `"<b>" is not a currency`,
		whole + "longest: [1h]":                            "expected one value",
		whole + "wake: [d]":                                "",
		"wake: cloud start\ncheck: [b]\nsleep: [c]":        "p:1:7: expected a list of words, such as [program, argument]",
		"wake: [[a]]\ncheck: [b]\nsleep: [c]":              "expected one value",
		"wake: []\ncheck: [b]\nsleep: [c]":                 "wake names no program",
		"wake: ['']\ncheck: [b]\nsleep: [c]":               "wake names no program",
		"wake: [a, \"x\\0y\"]\ncheck: [b]\nsleep: [c]":     "zero byte",
		"wake: [a]\ncheck: [b]":                            "sleep is missing",
		"check: [b]\nsleep: [c]":                           "wake is missing",
		"wake: [a]\nsleep: [c]":                            "check is missing",
		"wake: null\ncheck: [b]\nsleep: [c]":               "",
		"":                                                 "the file is empty",
		whole + "---\n" + whole:                            "more than one document",
		"wake: {a: b}\ncheck: [b]\nsleep: [c]":             "expected a list of words",
		"wake: [a\ncheck: [b]\nsleep: [c]":                 "p:",
		"wake: &a [*a]\ncheck: [b]\nsleep: [c]":            "",
		"wake: [~]\ncheck: [b]\nsleep: [c]":                "expected one value",
		whole + "price_per_hour: 1e400\ncurrency: EUR":     "not a price",
		whole + "price_per_hour: 2000000\ncurrency: \"€\"": "not a price",
	} {
		_, err := Parse("p", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("wake: &a [*a]\ncheck: [b]\nsleep: [c]"))
	f.Add([]byte("wake: [\"\\0\"]\ncheck: [b]\nsleep: [c]\nlongest: 1h"))
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := Parse("p", content)
		if err != nil {
			return
		}
		for _, words := range [][]string{c.Wake, c.Check, c.Sleep} {
			if len(words) == 0 || words[0] == "" || strings.ContainsRune(strings.Join(words, ""), 0) {
				t.Errorf("%q is no command", words)
			}
		}
		if c.Longest < c.Patience || c.Patience <= 0 || c.Longest > 7*24*time.Hour || !(c.Price >= 0 && c.Price <= 1e6) ||
			c.Price > 0 && c.Currency == "" {
			t.Errorf("%+v", c)
		}
	})
}

// What an earlier step has passed on decides what a report says, and nothing else.
func FuzzFromEnvironment(f *testing.F) {
	woke := time.Date(2026, 11, 16, 3, 0, 0, 0, time.UTC)
	f.Add(reporting.Cost{Woke: woke, PricePerHour: 3, Currency: "EUR"}.Line())
	f.Add(`{"woke":"2199-12-31T23:59:59-23:00"}`)
	f.Fuzz(func(t *testing.T, text string) {
		read := func(text string) *reporting.Cost {
			return FromEnvironment(func(string) string { return text }, func(string) {})
		}
		a := read(text)
		if a == nil {
			return
		}
		if again := read(a.Line()); strings.ContainsAny(a.Line(), "\r\n") || !again.Woke.Equal(a.Woke) {
			t.Errorf("%q came back as %+v", text, again)
		}
		if c := a.Until(woke); c.Seconds < 0 || strings.ContainsAny(c.String(), "\r\n\x1b") {
			t.Errorf("%v", c)
		}
	})
}

func TestNonsenseIsNotUsed(t *testing.T) {
	for _, text := range []string{
		"{", "[]", "null", "{}", `{"woke":"9999-12-31T23:59:59-23:00"}`,
		`{"woke":"2026-11-16T03:00:00Z","price_per_hour":-1}`, `{"woke":"2026-11-16T03:00:00Z","currency":"<b>"}`,
	} {
		notices := 0
		a := FromEnvironment(func(string) string { return text }, func(string) { notices++ })
		if a != nil || notices != 1 {
			t.Errorf("%q is %+v, %d notices", text, a, notices)
		}
	}
}

func TestCost(t *testing.T) {
	woke := time.Date(2026, 11, 16, 3, 0, 0, 0, time.UTC)
	now := woke.Add(20*time.Minute + 30*time.Second)
	for _, c := range []struct {
		awake reporting.Cost
		want  string
	}{
		// 3 × 1230 / 3600 = 1.025
		{reporting.Cost{Woke: woke, PricePerHour: 3, Currency: "EUR"},
			"the machine has been awake for 20m30s, about 1.02 EUR at 3.00 an hour"},
		{reporting.Cost{Woke: woke}, "the machine has been awake for 20m30s"},
		{reporting.Cost{Woke: now.Add(time.Hour)}, "the machine has been awake for 0s"}, // two clocks
	} {
		if got := c.awake.Until(now); got.String() != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}
