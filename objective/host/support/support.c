/* Support for timing kernels and for explaining their crashes. It is compiled
 * once per compiler and loaded beside every kernel, so that no parameter's -D
 * flag can reach it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static int report_descriptor = -1;

/* Appends a decimal number; the usual formatting is not safe in a handler. */
static char *append_number(char *at, uint64_t n) {
	char digits[20];
	int count = 0;
	do {
		digits[count++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (count)
		*at++ = digits[--count];
	return at;
}

static char *append_text(char *at, const char *text) {
	while (*text)
		*at++ = *text++;
	return at;
}

/* Writes without the C library: a kernel can put another function in the place of one that is
 * looked up, and would run in the handler. */
static long write_bytes(int descriptor, const char *bytes, size_t size) {
#if defined(__linux__) && defined(__x86_64__)
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(1L), "D"((long)descriptor), "S"(bytes), "d"(size) : "rcx", "r11", "memory");
	return result;
#elif defined(__linux__) && defined(__aarch64__)
	register long result __asm__("x0") = descriptor;
	register const char *from __asm__("x1") = bytes;
	register size_t count __asm__("x2") = size;
	register long call __asm__("x8") = 64;
	__asm__ volatile("svc 0" : "+r"(result) : "r"(from), "r"(count), "r"(call) : "memory");
	return result;
#else
	return write(descriptor, bytes, size);
#endif
}

/* Sends one last frame with the signal and the address, then lets the signal
 * do what it does by default: what has faulted does so again when this returns. */
static void report(int signal_number, siginfo_t *information, void *context) {
	char frame[160];
	char *at = frame + 4;
	int code = information->si_code > 0 ? information->si_code : 0;
	(void)context;
	at = append_text(at, "{\"fault\":{\"signal\":");
	at = append_number(at, (uint64_t)signal_number);
	at = append_text(at, ",\"code\":");
	at = append_number(at, (uint64_t)code);
	at = append_text(at, ",\"address\":");
	at = append_number(at, code ? (uint64_t)(uintptr_t)information->si_addr : 0);
	at = append_text(at, "}}");
	uint32_t length = (uint32_t)(at - frame - 4);
	for (int i = 0; i < 4; i++)
		frame[i] = (char)(length >> (8 * i));
	if (write_bytes(report_descriptor, frame, (size_t)(at - frame)) < 0 || !code)
		raise(signal_number); /* somebody has sent it, and it does not come again */
}

/* Replaces the language runtime's handlers: under them a fault in C would end
 * in a traceback and exit status 2 instead of the signal. */
void pawl_watch(int32_t descriptor) {
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
	struct sigaction action;
	report_descriptor = descriptor;
	memset(&action, 0, sizeof action);
	action.sa_sigaction = report;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		sigaction(fatal[i], &action, NULL);
}

/* How this thread computes with floats: bit 0 for subnormal numbers as zeros, bits 1 and 2 for the
 * rounding, above them whatever else. */
uint64_t pawl_mode(void) {
#if defined(__x86_64__)
	uint32_t vectors = __builtin_ia32_stmxcsr();
	uint16_t old;
	__asm__ volatile("fnstcw %0" : "=m"(old));
	return (vectors & 0x8040 ? 1 : 0) | (vectors >> 13 & 3) << 1 | (uint64_t)(vectors >> 7 & 0x3f) << 8 | (uint64_t)(old & 0xf3f) << 16;
#elif defined(__aarch64__)
	uint64_t control;
	__asm__ volatile("mrs %0, fpcr" : "=r"(control));
	return (control & (1 << 24 | 1 << 19) ? 1 : 0) | (control >> 22 & 3) << 1 | (control >> 8 & 0x9f) << 8;
#else
	return 0;
#endif
}

/* How many bytes are allocated, 0 where the C library does not say. */
int64_t pawl_heap(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
	struct mallinfo2 all = mallinfo2();
	return (int64_t)(all.uordblks + all.hblkhd);
#else
	return 0;
#endif
}

/* Takes memory out of the caches. Returns 0 on a processor that has no way to. */
int32_t pawl_flush(uintptr_t from, uint64_t bytes) {
#if defined(__x86_64__)
	for (uintptr_t line = from & ~(uintptr_t)63; line < from + bytes; line += 64)
		__builtin_ia32_clflush((const void *)line);
	__builtin_ia32_mfence();
	return 1;
#elif defined(__aarch64__)
	for (uintptr_t line = from & ~(uintptr_t)63; line < from + bytes; line += 64)
		__asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
	return 1;
#else
	return 0;
#endif
}

static int64_t nanoseconds(clockid_t clock) {
	struct timespec now;
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* How often this thread has waited for anything but a core, -1 where the system does not say. */
static int64_t waits(void) {
#if defined(__linux__)
	struct rusage usage;
	return getrusage(RUSAGE_THREAD, &usage) ? -1 : usage.ru_nvcsw;
#else
	return -1;
#endif
}

/* Fills the stack below with random words, so that no kernel finds there what a
 * call before it has left. They are large as numbers of any type: a result shows them. */
static __attribute__((noinline)) void poison_stack(uint64_t seed) {
	volatile uint64_t below[16384];
	for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		below[i] = (seed & 0x01ffffff01ffffff) | 0x7e0000007e000000;
	}
}

/* Calls the kernel batch times, each with arguments of its own, and returns the
 * nanoseconds in all. A thread that waited for nothing but a core took as long as it
 * worked: on a busy machine the rest is not the kernel's. */
int64_t pawl_time(void (*call)(void **), void ***arguments, int64_t batch, uint64_t seed) {
	poison_stack(seed | 1);
	int64_t waited = waits(), began = nanoseconds(CLOCK_THREAD_CPUTIME_ID), start = nanoseconds(CLOCK_MONOTONIC);
	for (int64_t i = 0; i < batch; i++)
		call(arguments[i]);
	int64_t took = nanoseconds(CLOCK_MONOTONIC) - start, worked = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - began;
	return waited >= 0 && waited == waits() && worked < took ? worked : took;
}
