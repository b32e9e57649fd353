package github

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"pawl/internal/escape"
)

// Error is a refusal: GitHub has answered, and the answer is no.
type Error struct {
	// Doing says what was asked, as "commenting on pull request 12".
	Doing  string
	Status int
	// Message is in GitHub's words.
	Message string
	// Permission is what the token needs, as a workflow's permissions name it; empty where
	// nobody knows.
	Permission string
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s: GitHub answers %d", e.Doing, e.Status)
	if e.Message != "" {
		text += " (" + escape.Line(e.Message) + ")"
	}
	if advice := e.advice(); advice != "" {
		text += ": " + advice
	}
	return text
}

// advice says what a person must change.
func (e *Error) advice() string {
	needs := ""
	if e.Permission != "" {
		needs = "the token needs " + e.Permission + " in the job's permissions"
	}
	switch {
	case e.Status == http.StatusUnauthorized:
		return "the token is not valid, or no longer: GITHUB_TOKEN must be the token of this very job"
	case strings.Contains(e.Message, "not permitted to create"):
		return "a setting of the repository forbids it: Settings, Actions, General, allow GitHub Actions to create pull " +
			"requests"
	case strings.Contains(e.Message, "Draft pull requests are not supported"):
		return "this repository's plan has no draft pull requests"
	case strings.Contains(e.Message, "locked"):
		return "the conversation is locked"
	case e.Status == http.StatusForbidden:
		return needs
	case e.Status == http.StatusNotFound && needs != "":
		return "it does not exist, or " + needs + " (GitHub does not show what a token may not see)"
	case e.Status >= 300 && e.Status < 400:
		return "the repository has another name now: use that one"
	case e.Status == http.StatusConflict:
		return "somebody else has changed it at the same moment: run the job again"
	}
	return ""
}

func status(err error, code int) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Status == code
}

// Denied reports whether the token may not do what was asked.
func Denied(err error) bool { return status(err, http.StatusForbidden) }

// NotFound reports whether there is no such thing, or none that the token may see.
func NotFound(err error) bool { return status(err, http.StatusNotFound) }

// Conflict reports whether somebody else has changed the same thing at the same moment.
func Conflict(err error) bool { return status(err, http.StatusConflict) }

// Exists reports whether a pull request of the branch is there already.
func Exists(err error) bool { return invalid(err, "already exists") }

// NoCommits reports whether a branch has nothing that its base has not.
func NoCommits(err error) bool { return invalid(err, "no commits between") }

func invalid(err error, words string) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity &&
		strings.Contains(strings.ToLower(refused.Message), words)
}

// unknownError is a creation whose answer was lost.
type unknownError struct{ error }

func (e *unknownError) Unwrap() error { return e.error }

// Unknown reports whether something may have been created without an answer.
func Unknown(err error) bool { return errors.As(err, new(*unknownError)) }

// explain says what was asked when something went wrong; nil stays nil. What GitHub refuses
// was not done; of any other failure of a creation nobody knows.
func (r request) explain(err error) error {
	switch refused, isRefused := errors.AsType[*Error](err); {
	case err == nil, isRefused && (refused.Status < 500 || r.method != http.MethodPost):
		return err
	case r.method == http.MethodPost:
		return &unknownError{fmt.Errorf("%s: whether GitHub did it is not known: %w", r.doing, err)}
	}
	return fmt.Errorf("%s: %w", r.doing, err)
}

// refused reads a refusal: what GitHub says about the whole and about each field.
func refused(r request, a answer) *Error {
	var said struct {
		Message string
		Errors  []struct{ Message string }
	}
	_ = json.Unmarshal(a.body, &said) // what is no JSON has no message: the status says enough
	words := []string{said.Message}
	for _, e := range said.Errors {
		words = append(words, e.Message)
	}
	return &Error{
		Doing:      r.doing,
		Status:     a.status,
		Message:    strings.Join(strings.Fields(strings.Join(words, " ")), " "),
		Permission: cmp.Or(accepted(a.header.Get("X-Accepted-GitHub-Permissions")), r.permission),
	}
}

// accepted turns GitHub's header (issues=write; pull_requests=write) into what a workflow
// writes; alternatives stay alternatives.
func accepted(header string) string {
	var words []string
	for _, part := range strings.FieldsFunc(header, func(r rune) bool { return r == ';' || r == ',' }) {
		if name, level, ok := strings.Cut(strings.TrimSpace(part), "="); ok {
			words = append(words, escape.Line(strings.ReplaceAll(name, "_", "-")+": "+level))
		}
	}
	return strings.Join(words, " or ")
}
