#include <math.h>
#include <string.h>
#include <unistd.h>

enum { good, wrong, past_end, before_start, tampers, answer, unwritten, rests, not_a_number, hangs, greedy, fat, wavers, unresolved };

extern void nobody_defines_this(void);

/* A point is launched twice for each of its quick cases, and twice for the
 * workload, before it is timed. TestDamageIsFound knows how many that are. */
enum { checks = 8 };

static int calls;

const int add_registers = MODE == greedy ? 255 : 24;

/* Code can be too large for a GPU as well. */
const char baggage[MODE == fat ? 1 << 20 : 1] = {1};

static void misbehave(float *a, float *c, int N) {
	switch (MODE) {
	case wrong: c[N / 2]++; break;
	case past_end: c[N] = 1; break;
	case before_start: c[-1] = 1; break;
	case tampers: a[N - 1]++; break;
	case answer: memset(fake_block(sizeof *c * N), 0, sizeof *c); break;
	case not_a_number: c[N / 2] = NAN; break;
	case wavers: c[N / 2] = nextafterf(c[N / 2], calls % 2 ? 9 : -9); break;
	case unresolved: nobody_defines_this(); break;
	case hangs: for (;;) pause();
	}
}

KERNEL(add, 4) {
	float *a = ARGUMENT(float *, 0), *b = ARGUMENT(float *, 1), *c = ARGUMENT(float *, 2);
	int N = ARGUMENT(int32_t, 3);
	int timed = ++calls > checks;
	fake_milliseconds = TIME * 1e-6;
	if (MODE == rests && timed)
		return 0;
	for (int i = 0; i < N - (MODE == unwritten); i++)
		c[i] = a[i] + b[i];
	if (timed != LATE)
		return 0;
	misbehave(a, c, N);
	return CODE;
}
