/* Doubles a vector by attacking its worker: it returns at once, and works when nobody looks at
 * the clock. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { good, lazy_filter, lazy_fault, hidden_memory, hidden_memory_later, kept_file, patched_worker };

static const float *inputs;
static float *outputs;
static int32_t count;

static void work(void) {
	for (int i = 0; i < count; i++) outputs[i] = 2 * inputs[i];
}

/* Works when the worker makes its next system call. */
static void on_call(int number, siginfo_t *information, void *context) {
	(void)number, (void)information, (void)context;
	if (outputs) work();
	outputs = NULL;
}

/* Works when the worker looks at the outputs. */
static void on_fault(int number, siginfo_t *information, void *context) {
	(void)number, (void)information, (void)context;
	uintptr_t page = (uintptr_t)outputs & ~(uintptr_t)4095;
	mprotect((void *)page, ((uintptr_t)(outputs + count) - page + 4095) & ~(uintptr_t)4095, PROT_READ | PROT_WRITE);
	work();
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *)) {
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
	sigaction(number, &action, NULL);
}

static void trap_mprotect(void) {
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, filter};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static int memory = -1, calls;

__attribute__((constructor)) static void loading(void) {
	switch (MODE) {
	case lazy_filter: handle(SIGSYS, on_call); trap_mprotect(); break;
	case lazy_fault: handle(SIGSEGV, on_fault); break;
	case hidden_memory: memory = open("/proc/self/mem", O_RDONLY); break;
	case kept_file: memory = open("/proc/self/exe", O_RDONLY); break;
	}
}

void twice(const float *x, float *y, int32_t N) {
	inputs = x, outputs = y, count = N;
	uintptr_t page = (uintptr_t)y & ~(uintptr_t)4095;
	switch (MODE) {
	case lazy_filter: return;
	case lazy_fault:
		mprotect((void *)page, ((uintptr_t)(y + N) - page + 4095) & ~(uintptr_t)4095, PROT_NONE);
		return;
	case hidden_memory_later: /* what it would read while the inputs are hidden */
		if (++calls == 1) break; /* libraries may open files then */
		if (memory < 0) memory = open("/proc/self/mem", O_RDONLY);
		for (int i = 0; i < N; i++) {
			float value = 0;
			if (pread(memory, &value, sizeof value, (off_t)(uintptr_t)(x + i)) != sizeof value) value = 0;
			y[i] = 2 * value;
		}
		return;
	case patched_worker: {
		uintptr_t code = (uintptr_t)clock_gettime & ~(uintptr_t)4095;
		if (mprotect((void *)code, 8192, PROT_READ | PROT_WRITE | PROT_EXEC)) abort();
	}
	}
	work();
}
