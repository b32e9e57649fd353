//go:build linux && (amd64 || arm64)

package host_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"pawl/objective/host"
)

// signalling doubles a vector if it may send just the signals that it should. They are
// number 0, which asks whether one could be sent and sends none.
const signalling = `
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { itself, thread, group, parent, its_thread, everybody, its_group, queue, descriptor };

static long attempt(void) {
	siginfo_t info = {.si_code = SI_QUEUE};
	switch (MODE) {
	case itself: return kill(getpid(), 0);
	case thread: return syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0);
	case group: return kill(0, 0) || kill(-getpid(), 0);
	case parent: return kill(getppid(), 0);
	case its_thread: return syscall(SYS_tgkill, getppid(), getppid(), 0) && syscall(SYS_tkill, getppid(), 0);
	case everybody: return kill(-1, 0);
	case its_group: return kill(-getpgid(getppid()), 0);
	case queue: return syscall(SYS_rt_sigqueueinfo, getppid(), 0, &info);
	case descriptor: return syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, getppid(), 0), 0, 0, 0);
	}
	return 1;
}

void twice(const float *x, float *y, int32_t N) {
	int may = attempt() == 0;
	int right = MODE <= group ? may : !may && errno == EPERM;
	for (int i = 0; i < N; i++) y[i] = right ? 2 * x[i] : 0;
}
`

// A kernel may signal its own process, as abort does, and no other: its parent would end the search.
func TestKernelsSignalNobody(t *testing.T) {
	t.Parallel()
	action := uint32(unix.SECCOMP_RET_ERRNO)
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0,
		uintptr(unsafe.Pointer(&action))); err != 0 {
		t.Skip("the system has no filter of system calls: ", err)
	}
	modes := []string{"itself", "thread", "group", "parent", "its_thread", "everybody", "its_group", "queue", "descriptor"}
	files := maps.Clone(untidyFiles)
	files["twice.c"] = signalling
	files["kernel.yaml"] = regexp.MustCompile(`values: .*`).ReplaceAllString(files["kernel.yaml"],
		"values: ["+strings.Join(modes, ", ")+"], default: itself}")
	b := open(t, files, host.Options{})
	for _, mode := range modes {
		if failure, err := b.Verify(t.Context(), b.prepare(t, "MODE="+mode)); failure != nil || err != nil {
			t.Errorf("%s: %v, %v", mode, failure, err)
		}
	}
}
