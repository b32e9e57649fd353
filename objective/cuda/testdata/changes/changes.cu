enum { good, wrong, once, idle_when_timed, keeps, no_scratch, past_scratch, short_symbol, no_symbol };

float d_scale[MODE == short_symbol ? 1 : 2];
#define SYMBOL(mode) SYMBOL_OF(mode)
#define SYMBOL_OF(mode) d_more_##mode
/* No variable has the wanted name in one mode. */
#define d_more_good d_more
#define d_more_wrong d_more
#define d_more_once d_more
#define d_more_idle_when_timed d_more
#define d_more_keeps d_more
#define d_more_no_scratch d_more
#define d_more_past_scratch d_more
#define d_more_short_symbol d_more
#define d_more_no_symbol another_name
int32_t SYMBOL(MODE);

/* Quick cases and the workload, each twice: see add.cu. */
enum { checks = 8 };
static int calls;

KERNEL(first, 3) {
	const float *x = ARGUMENT(float *, 0);
	float *between = ARGUMENT(float *, 1);
	int N = ARGUMENT(int32_t, 2);
	fake_milliseconds = TIME * 1e-6;
	for (int i = 0; i < N && MODE != no_scratch; i++)
		between[i] = x[i] * d_scale[0];
	if (MODE == past_scratch)
		between[N] = 1;
	return 0;
}

KERNEL(second, 4) {
	float *v = ARGUMENT(float *, 0);
	const float *between = ARGUMENT(float *, 1);
	uint32_t *counts = ARGUMENT(uint32_t *, 2);
	int N = ARGUMENT(int32_t, 3);
	fake_milliseconds = TIME * 1e-6;
	int timed = ++calls > checks;
	if (MODE == idle_when_timed && timed)
		return 0;
	/* It is right the first time that it sees a buffer, and where nobody gives it afresh. */
	static float *seen[4096];
	for (int i = 0; MODE == once && i < 4096; i++) {
		if (seen[i] == v)
			return 0;
		if (!seen[i]) {
			seen[i] = v;
			break;
		}
	}
	for (int i = 0; i < N; i++)
		v[i] = v[i] + (MODE == keeps && timed && i == 0 ? 0 : between[i]) + (MODE == short_symbol ? 0 : d_scale[1]) * SYMBOL(MODE);
	for (int i = 0; i < N; i++)
		counts[i % 8]++;
	if (MODE == wrong)
		counts[3]++;
	return 0;
}
