package space

import (
	"slices"
	"strings"
	"testing"
)

func restricted(t *testing.T, texts ...string) (*Space, error) {
	t.Helper()
	scope, err := NewScope(map[string]Kind{"BLOCK": Integer, "MODE": Text, "FAST": Boolean}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := scope.Compile(`BLOCK < 128 or MODE == "plain"`, Condition)
	if err != nil {
		t.Fatal(err)
	}
	values := func(texts ...string) (values []Value) {
		for _, text := range texts {
			p, err := ParsePoint("X=" + text)
			if err != nil {
				t.Fatal(err)
			}
			v, _ := p.Get("X")
			values = append(values, v)
		}
		return values
	}
	blocks, modes, fast := values("32", "64", "128"), values("plain", "tiled"), values("false", "true")
	s, err := New([]Param{{Name: "BLOCK", Values: blocks, Default: blocks[0], Ordered: true},
		{Name: "MODE", Values: modes, Default: modes[0]}, {Name: "FAST", Values: fast, Default: fast[1]}},
		[]*Expression{c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var r Restriction
	for _, text := range texts {
		if err := r.Set(text); err != nil {
			return nil, err
		}
	}
	return s.Restrict(r)
}

// A restricted search has the points that are asked for, and the default.
func TestRestrict(t *testing.T) {
	for _, test := range []struct {
		texts []string
		want  string
	}{
		{[]string{"BLOCK=64,128 MODE=plain"},
			"32 plain true, 64 plain false, 64 plain true, 128 plain false, 128 plain true"},
		{[]string{"BLOCK=32", "MODE=tiled"}, "32 plain true, 32 tiled false, 32 tiled true"},
		{[]string{"FAST=false", "MODE=tiled"}, "32 plain true, 32 tiled false, 64 tiled false"},
		{[]string{"FAST=true", "MODE=plain", "BLOCK=32"}, "32 plain true"},
	} {
		s, err := restricted(t, test.texts...)
		if err != nil {
			t.Errorf("%v: %v", test.texts, err)
			continue
		}
		pool, err := s.Pool(PoolOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range pool.Len() {
			p := pool.Point(i)
			var words []string
			for _, name := range []string{"BLOCK", "MODE", "FAST"} {
				v, _ := p.Get(name)
				words = append(words, v.String())
			}
			got = append(got, strings.Join(words, " "))
		}
		want := strings.Split(test.want, ", ")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", test.texts, got, want)
		}
	}
	all, err := restricted(t)
	other, _ := restricted(t, "FAST=false")
	if err != nil || all.Fingerprint() == other.Fingerprint() {
		t.Errorf("a restricted space is another one: %v", err)
	}
	for texts, want := range map[string]string{
		"BLOK=1": "no parameter BLOK; there are BLOCK, FAST, MODE", "BLOCK=48": "BLOCK=48 is not one of 32, 64, 128",
		"BLOCK": "is not NAME=VALUE", "BLOCK=64,": "is not NAME=VALUE", "FAST=true;FAST=false": "FAST is restricted twice",
	} {
		if _, err := restricted(t, strings.Split(texts, ";")...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", texts, err, want)
		}
	}
}
