/* Support for timing kernels and for explaining their crashes. It is compiled
 * once per compiler and loaded beside every kernel, so that no parameter's -D
 * flag can reach it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
	size_t length = strlen(text);
	memcpy(at, text, length);
	return at + length;
}

/* Sends one last frame with the signal and the address, then lets the signal
 * do what it does by default. */
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
	if (write(report_descriptor, frame, (size_t)(at - frame)) < 0)
		_exit(3);
	raise(signal_number);
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

static int64_t nanoseconds(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Fills the stack below with random words, so that no kernel finds there what a
 * call before it has left. */
static __attribute__((noinline)) void poison_stack(uint64_t seed) {
	volatile uint64_t below[16384];
	for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		below[i] = seed;
	}
}

/* Some bytes of the outputs, as they are when the kernel has returned. */
struct probe {
	const volatile unsigned char *at;
	uint64_t seen;
};

/* Calls the kernel batch times, each with arguments of its own, and returns the
 * nanoseconds in all. */
int64_t pawl_time(void (*call)(void **), void ***arguments, int64_t batch, uint64_t seed, struct probe *probes, int64_t count) {
	poison_stack(seed | 1);
	int64_t start = nanoseconds();
	for (int64_t i = 0; i < batch; i++)
		call(arguments[i]);
	int64_t took = nanoseconds() - start;
	for (int64_t i = 0; i < count; i++)
		probes[i].seen = *probes[i].at;
	return took;
}
