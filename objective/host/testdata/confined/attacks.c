/* Doubles a vector by attacking its worker: it returns at once, and works when nobody looks at
 * the clock. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
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

enum { good, lazy_filter, lazy_fault, hidden_memory, hidden_memory_later, kept_file, patched_worker, looks_on, mapped_clock };

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

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }

/* Aborts where it runs while the first input changes: it could work on what it sees before the clock starts. The system
 * compares for it, which no hidden memory crashes, and the thread makes hidden memory readable. */
static uint32_t *watched;
static volatile int sights;
static void *look_on(void *unused) {
	uint32_t last = 0;
	double before = 0;
	for (;;) {
		double looked = now();
		long same = syscall(SYS_futex, watched, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, watched, last);
		if (same < 0 && errno == EFAULT) {
			mprotect((void *)((uintptr_t)watched & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE);
		} else if (same < 0 && errno == EAGAIN) {
			if (last != 0 && now() - before < 20e-6) abort();
			last = *watched;
			sights++;
		}
		before = looked;
	}
	return unused;
}

static void begin_to_look(const float *x) {
	pthread_t thread;
	if (watched) return;
	watched = (uint32_t *)x;
	pthread_create(&thread, NULL, look_on, NULL);
}

#ifdef __x86_64__
/* A page that makes the launches of pawl_time from wherever it is entered, and says that they took a microsecond. */
__asm__(".section .text.page,\"ax\"\n.balign 4096\nmapped_page:\n.fill 4000,1,0x90\n"
	"push %rbx\npush %rbp\npush %r12\nmov %rdi,%rbx\nmov %rsi,%rbp\nmov %rdx,%r12\n"
	"1: test %r12,%r12\njle 2f\nmov (%rbp),%rdi\ncall *%rbx\nadd $8,%rbp\ndec %r12\njmp 1b\n"
	"2: mov $1000,%eax\npop %r12\npop %rbp\npop %rbx\nret\n.balign 4096\n.text\n");
extern const char mapped_page[];

static int own_file = -1;
static off_t own_offset;
static char *clock_code;
static int find(struct dl_phdr_info *library, size_t size, void *unused) {
	(void)size, (void)unused;
	if (!library->dlpi_name[0]) return 0;
	for (int i = 0; i < library->dlpi_phnum; i++) {
		uintptr_t from = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr, at = (uintptr_t)mapped_page;
		if (library->dlpi_phdr[i].p_type != PT_LOAD || at < from || at >= from + library->dlpi_phdr[i].p_memsz) continue;
		own_file = open(library->dlpi_name, O_RDONLY);
		own_offset = (off_t)(at - from + library->dlpi_phdr[i].p_offset);
	}
	void *handle = dlopen(library->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
	if (handle && !clock_code) clock_code = dlsym(handle, "pawl_time");
	return 0;
}

static void map_clock(void) {
	dl_iterate_phdr(find, NULL);
	void *page = (void *)((uintptr_t)clock_code & ~(uintptr_t)4095);
	if (!page || mmap(page, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, own_file, own_offset) != page) abort();
	close(own_file);
}
#endif

__attribute__((constructor)) static void loading(void) {
	switch (MODE) {
#ifdef __x86_64__
	case mapped_clock: map_clock(); break;
#endif
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
	case looks_on:
		if (++calls > 12) begin_to_look(x); /* the first after the checks has the memory that all samples begin with */
		if (calls > 20000 && !sights) abort();
		break;
	case patched_worker: {
		uintptr_t code = (uintptr_t)clock_gettime & ~(uintptr_t)4095;
		if (mprotect((void *)code, 8192, PROT_READ | PROT_WRITE | PROT_EXEC)) abort();
	}
	}
	work();
}
