package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of files, by what they allow.
const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REFER
	// fileRights are those that a file has which is no folder.
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// devices are files that every program may use.
var devices = Access{
	Read:  []string{"/dev/urandom", "/dev/random"},
	Write: []string{"/dev/null", "/dev/zero", "/dev/full"},
}

// computing are the devices that compute.
var computing = []string{"/dev/nvidia*", "/dev/dri", "/dev/kfd", "/dev/accel"}

// landlockVersion is the version of Landlock that the system has; 0 for none.
var landlockVersion = sync.OnceValue(func() int {
	version, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return int(version)
})

// Restricts says why the system does not enforce all of an Access; nil where it does.
func Restricts() error {
	const signals = 6 // the version since which signals to others can be refused
	switch version := landlockVersion(); {
	case version == 0:
		return errors.New("the system has no Landlock")
	case version < signals:
		return fmt.Errorf("the system's Landlock (version %d) does not refuse signals to other programs", version)
	}
	return nil
}

// ruleset is the rules of an access, for one version of the system.
func (a *Access) ruleset() (int, error) {
	version := landlockVersion()
	attributes := unix.LandlockRulesetAttr{Handled_access_fs: 1<<13 - 1}
	for since, right := range map[int]uint64{
		2: unix.LANDLOCK_ACCESS_FS_REFER, 3: unix.LANDLOCK_ACCESS_FS_TRUNCATE, 5: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV} {
		if version >= since {
			attributes.Handled_access_fs |= right
		}
	}
	if version >= 4 && !a.Devices {
		attributes.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 6 {
		attributes.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	rules, _, failed := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)),
		unsafe.Sizeof(attributes), 0)
	if failed != 0 {
		return 0, failed
	}
	var err error
	if a.Devices {
		for _, pattern := range computing {
			files, _ := filepath.Glob(pattern)
			for _, path := range files {
				err = errors.Join(err, permit(int(rules), path, attributes.Handled_access_fs))
			}
		}
	}
	for _, allowed := range []*Access{a, &devices} {
		for _, path := range allowed.Read {
			err = errors.Join(err, permit(int(rules), path, readRights&attributes.Handled_access_fs))
		}
		for _, path := range allowed.Write {
			err = errors.Join(err, permit(int(rules), path, (readRights|writeRights)&attributes.Handled_access_fs))
		}
	}
	return int(rules), err
}

// permit adds a rule for what is below a path.
func permit(rules int, path string, rights uint64) error {
	file, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // what does not exist, or cannot be reached anyway
	}
	defer unix.Close(file)
	var status unix.Stat_t
	if err := unix.Fstat(file, &status); err != nil {
		return fmt.Errorf("restricting a program to %s: %w", path, err)
	}
	if status.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(file)}
	if _, _, err := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0); err != 0 {
		return fmt.Errorf("restricting a program to %s: %w", path, err)
	}
	return nil
}

// restrict restricts the calling thread, and what it starts.
func (a *Access) restrict() error {
	if landlockVersion() == 0 {
		return nil // the doctor says so
	}
	rules, err := a.ruleset()
	if err == nil {
		defer unix.Close(rules)
		err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	if err != nil {
		return fmt.Errorf("restricting a program: %w", err)
	}
	if _, _, failed := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); failed != 0 {
		return fmt.Errorf("restricting a program: %w", failed)
	}
	// One that may watch the whole system, as root may, would still see what others have in their environments. What
	// is left lets root read and write files of other users, where the rules allow it.
	for capability := uintptr(unix.CAP_FSETID + 1); capability <= unix.CAP_LAST_CAP; capability++ {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0) // only root has any, and may drop them
	}
	return nil
}

// startRestricted starts a program on a thread of its own, which is restricted before: a program has the restrictions
// of the thread that starts it, and no others can be given to one that runs. The thread stays until the program has
// ended, which may have asked to be killed when its parent is gone.
func (a *Access) startRestricted(begin func() error, ended <-chan struct{}) error {
	begun := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this function
		if unix.Gettid() == os.Getpid() {
			// The main thread cannot end, and stands for the whole process where others look at it. While it is locked,
			// another one is found.
			defer runtime.UnlockOSThread()
			begun <- a.startRestricted(begin, ended)
			return
		}
		err := a.restrict()
		if err == nil {
			err = begin()
		}
		if begun <- err; err == nil {
			<-ended
		}
	}()
	return <-begun
}

// conceal hides the memory and the environment of this process from others of its user, and its descriptors from what
// it starts.
var conceal = sync.OnceFunc(func() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	const first = 3 // after the standard files
	if unix.CloseRange(first, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) != nil {
		for number := range openFiles(os.Getpid()) {
			unix.CloseOnExec(number)
		}
	}
})
