#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { good, wrong, past_end, before_start, tampers, answer, unwritten, idle_when_timed, not_a_number, hangs, greedy, fat, wavers, unresolved,
       counts, by_pointer, unchanged, knows_poison, remembers, partly, overwrites };

/* overwrites writes to what it was never given: the right answers to other cases. */
static void overwrite(void) {
	for (size_t n = 20; n < 1000; n++)
		if (fake_block(sizeof(float) * n))
			memset(fake_block(sizeof(float) * n), 0, sizeof(float));
}

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
	case overwrites: overwrite(); break;
	case hangs: for (;;) pause();
	}
}

/* What it wrote last to an output, by the output. */
static float *last(const float *c) {
	static struct { const float *c; float first; } written[4096];
	int at = 0;
	while (written[at].c && written[at].c != c)
		at++;
	written[at].c = c;
	return &written[at].first;
}

/* skips says whether a kernel that cheats leaves a launch out. */
static int skips(const float *c, int N) {
	static const float *checked;
	if (N != 1000)
		return 0; /* the workload small */
	switch (MODE) {
	case counts: return calls > checks + 4;
	case by_pointer: return c != (checked = checked ? checked : c);
	case unchanged: return c[0] == *last(c);
	case knows_poison: return !isnan(c[0]);
	}
	return 0;
}

/* remembered answers from memory where inputs begin and end as they did before. */
static int remembered(const float *a, const float *b, float *c, int N) {
	static struct { float a, b, end; int N; float *c; } known[4096];
	int at = 0;
	while (known[at].c && !(known[at].N == N && known[at].a == a[0] && known[at].b == b[0] && known[at].end == a[N - 1]))
		at++;
	if (known[at].c) {
		int kept = MODE == partly ? N / 2 : N; /* half of the work is done all the same */
		memcpy(c, known[at].c, sizeof *c * kept);
		for (int i = kept; i < N; i++)
			c[i] = a[i] + b[i];
		fake_milliseconds *= MODE == partly ? 0.5 : 0.01;
		return 1;
	}
	known[at].a = a[0], known[at].b = b[0], known[at].end = a[N - 1], known[at].N = N;
	known[at].c = malloc(sizeof *c * N);
	for (int i = 0; i < N; i++)
		known[at].c[i] = a[i] + b[i];
	return 0;
}

KERNEL(add, 4) {
	float *a = ARGUMENT(float *, 0), *b = ARGUMENT(float *, 1), *c = ARGUMENT(float *, 2);
	int N = ARGUMENT(int32_t, 3);
	int timed = ++calls > checks;
	fake_milliseconds = TIME * 1e-6;
	if (MODE == idle_when_timed && timed || skips(c, N))
		return 0;
	if ((MODE == remembers || MODE == partly) && remembered(a, b, c, N))
		return 0;
	for (int i = 0; i < N - (MODE == unwritten); i++)
		c[i] = a[i] + b[i];
	if (MODE == unchanged)
		*last(c) = c[0];
	if (timed != LATE)
		return 0;
	misbehave(a, c, N);
	return CODE;
}
