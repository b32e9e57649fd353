package document

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Error is a mistake in a file, with where it stands.
type Error struct {
	// File is empty until [Locate] knows it: the text is then the message alone.
	File string
	// Line and Column count from 1.
	Line, Column int
	Message      string
	// Excerpt is the offending line.
	Excerpt string

	cause error // typed, for callers that branch; nil mostly
}

func (e *Error) Unwrap() error { return e.cause }

func (e *Error) Error() string {
	if e.File == "" {
		return e.Message
	}
	text := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
	if strings.TrimSpace(e.Excerpt) == "" {
		return text
	}
	gutter := fmt.Sprintf("%5d | ", e.Line)
	line, column := excerpt(e.Excerpt, e.Column)
	return fmt.Sprintf("%s\n%s%s\n%*s^", text, gutter, line, len(gutter)+column-1, "")
}

// excerpt returns a line of a file, cut to what fits on a screen around a
// column, and the column in it.
func excerpt(line string, column int) (string, int) {
	const widest = 160
	text := []rune(line)
	if len(text) <= widest {
		return string(text), column
	}
	from := min(max(0, column-widest/2), len(text)-widest)
	return string(text[from : from+widest]), column - from
}

// Place is where something stands in a file; both count from 1.
type Place struct{ Line, Column int }

// Top is the place for what is missing altogether.
var Top = Place{1, 1}

// PlaceOf is where a node of the parser stands.
func PlaceOf(node ast.Node) Place {
	at := node.GetToken().Position
	return Place{at.Line, at.Column}
}

// Errorf is a mistake there, for Locate. What it wraps is for callers that branch.
func (p Place) Errorf(format string, arguments ...any) error {
	err := fmt.Errorf(format, arguments...)
	return &Error{Line: p.Line, Column: p.Column, Message: err.Error(), cause: errors.Unwrap(err)}
}

// Locate turns any error of decoding or checking a file into an Error.
func Locate(file string, content []byte, err error) error {
	if err == nil {
		return nil
	}
	found := &Error{File: file, Line: 1, Column: 1, Message: err.Error()}
	var own *Error
	var library yaml.Error
	switch {
	case errors.As(err, &own) && own.File == "":
		found.Line, found.Column, found.Message, found.cause = own.Line, own.Column, own.Message, own.cause
	case errors.As(err, &library):
		found.Message = library.GetMessage()
		if token := library.GetToken(); token != nil {
			found.Line, found.Column = token.Position.Line, token.Position.Column
		}
	}
	if lines := strings.Split(string(content), "\n"); found.Line >= 1 && found.Line <= len(lines) {
		found.Excerpt = strings.ReplaceAll(strings.TrimRight(lines[found.Line-1], "\r"), "\t", " ")
	}
	return found
}

// Before reports whether a place comes first.
func (p Place) Before(other Place) bool {
	return p.Line < other.Line || p.Line == other.Line && p.Column < other.Column
}
