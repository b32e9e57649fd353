package main

import (
	"strings"
	"testing"
)

func testScope(status string) scope {
	return scope{
		contexts: map[string]any{
			"github": map[string]any{
				"ref_name": "main",
				"event": map[string]any{"pull_request": map[string]any{
					"number": 12.0,
					"head":   map[string]any{"repo": map[string]any{"full_name": "A/b"}},
				}},
			},
			"vars": map[string]any{}, "needs": map[string]any{"gate": map[string]any{"result": "success"}},
			"strategy": map[string]any{"job-total": 2.0},
		},
		functions: map[string]bool{
			"always": true, "success": status == "success", "failure": status == "failure", "cancelled": false,
		},
	}
}

// What GitHub's documentation says about expressions, and forms that the workflows use.
func TestExpressions(t *testing.T) {
	s := testScope("success")
	for text, want := range map[string]string{
		"${{ github.event.pull_request.number }}": "12", "${{ github.event.nothing.at.all }}": "",
		"x${{ 'it''s' }}y":               "xit'sy",
		"${{ vars.RUNNER || 'hosted' }}": "hosted", "${{ vars.RUNNER && 'a' || 'b' }}": "b",
		"${{ strategy.job-total }}": "2", "${{ 1 == 1 && 60 }}": "60",
		"${{ github.event.pull_request.head.repo.full_name == 'a/B' }}": "true", "${{ null == '' }}": "true",
		"${{ 'x' == 0 }}": "false", "${{ '10' == 10 }}": "true",
		"${{ fromJSON('{\"a\": [1]}').b }}": "", "${{ !(true && false) }}": "true", "${{ 'x' != 0 }}": "true",
		"$HOME ${BASE:+--base \"$BASE\"} $((1 + 2))": "$HOME ${BASE:+--base \"$BASE\"} $((1 + 2))", "${{ '}}' }}": "}}",
	} {
		if got, err := s.text(text); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"${{ nowhere.x }}", "${{ 1 + 1 }}", "${{ (1 }}", "${{ unknown() }}",
		"${{ always(1) }}", "${{ 2 < 3 }}", "${{ }}", "${{ github. }}x${{ ' }}", "${{ 1 1 }}"} {
		if got, err := s.text(text); err == nil && !strings.Contains(got, "${{") {
			t.Errorf("%s is %q", text, got)
		}
	}
}

// A condition that asks for no status runs after a success only.
func TestConditions(t *testing.T) {
	for _, test := range []struct {
		status, condition string
		want              bool
	}{
		{"success", "", true}, {"failure", "", false}, {"failure", "github.ref_name == 'main'", false},
		{"success", "github.ref_name == 'main'", true},
		{"failure", "always()", true}, {"failure", "!cancelled() && needs.gate.result == 'success'", true},
		{"success", "failure()", false},
		{"success", "${{ github.ref_name != 'main' }}", false}, {"skipped", "needs.gate.result == 'success'", false},
	} {
		if got, err := testScope(test.status).condition(test.condition); err != nil || got != test.want {
			t.Errorf("after %s, %q is %v, %v", test.status, test.condition, got, err)
		}
	}
}

func FuzzExpression(f *testing.F) {
	f.Add("github.ref_name == 'main' || !always() && fromJSON('1') != 2")
	f.Add("github.event.c")
	f.Fuzz(func(t *testing.T, text string) {
		if value, err := testScope("success").evaluate(text); err == nil {
			toText(value)
		}
	})
}
