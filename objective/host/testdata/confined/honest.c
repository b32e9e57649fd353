/* Doubles a vector with what kernels use. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { plain, openmp, threads, heap, clocks, prints, entropy, pinned, initialized, leaves, late };

static float factor;
__attribute__((constructor)) static void initialize(void) {
	FILE *file = fopen("/proc/cpuinfo", "r"); /* as some libraries do */
	if (file) fclose(file);
	factor = 2;
}

struct part { const float *x; float *y; int32_t from, to; };

static void *work(void *argument) {
	struct part *p = argument;
	for (int i = p->from; i < p->to; i++) p->y[i] = 2 * p->x[i];
	return NULL;
}

static void *work_and_leave(void *argument) {
	work(argument);
	pthread_exit(NULL);
}

static void in_threads(const float *x, float *y, int32_t N, pthread_attr_t *attributes) {
	enum { n = 3 };
	pthread_t thread[n];
	struct part part[n];
	for (int i = 0; i < n; i++) {
		part[i] = (struct part){x, y, N * i / n, N * (i + 1) / n};
		if (pthread_create(&thread[i], attributes, MODE == leaves ? work_and_leave : work, &part[i])) abort();
	}
	for (int i = 0; i < n; i++) pthread_join(thread[i], NULL);
}

void twice(const float *x, float *y, int32_t N) {
	struct timespec now;
	cpu_set_t cores;
	pthread_attr_t attributes;
	char some[16];
	switch (MODE) {
	case openmp:
#pragma omp parallel for num_threads(2)
		for (int i = 0; i < N; i++) y[i] = 2 * x[i];
		return;
	case late: { /* a library that loads its parts when it is first called */
		static void *library;
		if (!library && !(library = dlopen("libanl.so.1", RTLD_NOW))) abort();
		break;
	}
	case threads: case leaves: in_threads(x, y, N, NULL); return;
	case pinned: /* a thread is started on a core, and moves itself to all */
		if (sched_getaffinity(0, sizeof cores, &cores) || sched_setaffinity(0, sizeof cores, &cores)) abort();
		pthread_attr_init(&attributes);
		if (pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores)) abort();
		in_threads(x, y, N, &attributes);
		pthread_attr_destroy(&attributes);
		return;
	case heap: {
		size_t size = (size_t)64 << 20;
		float *all = malloc(size);
		if (!all) abort();
		memcpy(all, x, sizeof *x * (size_t)N);
		all = realloc(all, 2 * size);
		if (!all) abort();
		for (int i = 0; i < N; i++) y[i] = 2 * all[i];
		free(all);
		return;
	}
	case clocks:
		if (clock_gettime(CLOCK_MONOTONIC, &now) || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) || time(NULL) == 0) abort();
		if (nanosleep(&(struct timespec){0, 1000}, NULL) || sched_yield()) abort();
		break;
	case prints: printf("hello from %d\n", getpid()); break;
	case entropy: if (getrandom(some, sizeof some, 0) != sizeof some) abort(); break;
	case initialized: for (int i = 0; i < N; i++) y[i] = factor * x[i]; return;
	}
	for (int i = 0; i < N; i++) y[i] = 2 * x[i];
}
