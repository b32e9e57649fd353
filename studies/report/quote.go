package report

// ShellQuote returns a word as a shell reads it back.
func ShellQuote(word string) string { return shellQuote(word) }
