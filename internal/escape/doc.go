// Package escape writes text from outside into documents: what a manifest, a
// compiler, a kernel, a file's name or a record says.
//
// Each target has one function, and everything that is not ours goes through it:
// Line and Lines for a terminal or a log, Markdown and Code and Fence for
// Markdown, Macro, Comment and String for a C header, Shell for a command that a person may
// paste, CMake for a word in a CMake file, FileName for the name of a file.
// HTML is html/template's business, and what it leaves alone is Page's;
// XML is encoding/xml's and JSON is encoding/json's.
//
// Ordinary text stays as it is, so that a reader of the source is not bothered.
package escape
