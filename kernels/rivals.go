package kernels

import "pawl/kernels/document"

// Rival is another program that does what the kernel does, to be measured beside it: a vendor's
// library, say. See docs/rivals.md for what it reads and answers.
type Rival struct {
	Name string
	// Command is the program and its arguments, run in the kernel's folder without a shell.
	Command []string
}

func (b *builder) rivals() error {
	for key, command := range b.keys.Rivals.All() {
		if !plainName.MatchString(key.Text) {
			return key.At.Errorf("rival %q: letters, digits, dots, dashes and underscores only", key.Text)
		}
		r := Rival{key.Text, document.Texts(command)}
		if len(r.Command) == 0 || r.Command[0] == "" {
			return key.At.Errorf("rival %s has no command: a list of the program and its arguments is expected", key.Text)
		}
		b.kernel.Rivals = append(b.kernel.Rivals, r)
	}
	return nil
}
