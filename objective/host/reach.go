package host

import (
	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// reach says what everybody in this process may do with the buffers. Between requests that is nothing, so that no
// thread of a kernel works ahead, or goes on after a launch has returned.
func (d *Device) reach(protection int) error {
	for _, c := range present(d.buffers) {
		for _, b := range []*buffer{c.first, c.more} {
			if b == nil || len(b.body) == 0 {
				continue
			}
			if err := unix.Mprotect(b.body, protection); err != nil {
				return err
			}
		}
	}
	return nil
}

// poisonScratch makes the C library fill what a kernel allocates: scratch that
// is used before it is written must not look like zeros. The argument is the
// byte that new memory is filled with; 0 turns it off, because a kernel that is
// timed should not pay for it. It does nothing where the C library cannot.
func poisonScratch(fill byte) {
	tune, err := purego.Dlsym(purego.RTLD_DEFAULT, "mallopt")
	if err != nil {
		return // not the GNU C library
	}
	option := int32(-6) // M_PERTURB: new memory gets the complement of the value
	value := uintptr(0)
	if fill != 0 {
		value = uintptr(^fill)
	}
	purego.SyscallN(tune, uintptr(option), value)
}
