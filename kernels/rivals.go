package kernels

// Rival is another program that does what the kernel does, to be measured beside it: a vendor's
// library, say. See docs/rivals.md for what it reads and answers.
type Rival struct {
	Name string
	// Command is the program and its arguments, run in the kernel's folder without a shell.
	Command []string
}

func (b *builder) rivals() error {
	for key, command := range b.keys.Rivals.all() {
		if !plainName.MatchString(key.text) {
			return key.at.errorf("rival %q: letters, digits, dots, dashes and underscores only", key.text)
		}
		r := Rival{Name: key.text}
		for _, word := range command {
			r.Command = append(r.Command, word.text)
		}
		if len(r.Command) == 0 || r.Command[0] == "" {
			return key.at.errorf("rival %s has no command: a list of the program and its arguments is expected", key.text)
		}
		b.kernel.Rivals = append(b.kernel.Rivals, r)
	}
	return nil
}
