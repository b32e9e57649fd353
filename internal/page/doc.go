// Package page writes what people read: units, tables, Markdown, and the files
// that hold them. There is one of each, so that a time looks the same in a
// terminal, in a report of a study and in a report of the gate.
//
//  1. Numbers become text by the functions for units. What is not known is written
//     as such (~ or "too few runs"), never as a bare number.
//  2. Tables and templates of Markdown escape what comes from outside (internal/escape).
//  3. WriteFile replaces a file completely or not at all.
//
// Nothing is computed or decided here.
package page
