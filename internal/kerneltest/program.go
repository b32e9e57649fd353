package kerneltest

import (
	"os"
	"syscall"
)

// WriteProgram writes a program that takes the place of a compiler or a tool, and can be started
// at once. A process that another test starts while the file is open for writing inherits it, and
// until that process has replaced itself the system refuses to run the file ("text file busy"); so
// no process is started meanwhile.
func WriteProgram(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), 0o755)
}
