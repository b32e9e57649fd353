#include <assert.h>

enum { NONE, ILLEGAL_ADDRESS, MISALIGNED, INFINITE_LOOP, ASSERTION, TRAP, HUGE_STACK, WRONG_RESULT, PAST_THE_END, READ_PAST_THE_END, RACE, UNINITIALISED, DIVERGENT,
       BY_COUNT, BY_TIME, BY_POINTER, OWN_OUTPUT, NO_POISON, IN_A_GRAPH };

/* deep fills a frame of nearly all the local memory that a thread may have, in a
 * way that the compiler cannot see through. */
static __device__ __noinline__ float deep(int seed)
{
    volatile float frame[120000];
    for (int i = 0; i < 120000; i += 1000)
        frame[(i + seed) % 120000] = i;
    return frame[seed % 120000];
}

/* hide does what no result shows: a tool must watch to see it. The values that it
 * reads decide nothing, and the compiler cannot know that. */
static __device__ void hide(const float *x, float *y, int N)
{
    __shared__ volatile float shared[256];
    float seen = 0;
    switch (FAULT) {
    case READ_PAST_THE_END:
        seen = ((const volatile float *)x)[N];
        break;
    case RACE:
        shared[threadIdx.x] = 1;
        seen = shared[255 - threadIdx.x]; /* of another warp, without waiting for it */
        break;
    case UNINITIALISED:
        seen = ((volatile float *)y)[N - 1]; /* the output, before anybody wrote it */
        break;
    case DIVERGENT:
        if (threadIdx.x % 2)
            __syncthreads();
        break;
    }
    if (seen == 0x1.234568p-100f)
        y[0] = seen;
}

static __device__ void misbehave(const float *x, float *y, int N)
{
    switch (FAULT) {
    case ILLEGAL_ADDRESS:
        *(volatile float *)(y - (1LL << 38)) = 1; /* a terabyte away */
        break;
    case MISALIGNED:
        *(volatile double *)((char *)y + 4) = 1;
        break;
    case INFINITE_LOOP:
        while (((const volatile float *)x)[0] == ((const volatile float *)x)[0]) /* until it is not a number */
            ;
        break;
    case ASSERTION:
        assert(N < 0 && "planted");
        break;
    case TRAP:
        __trap();
        break;
    case HUGE_STACK:
        if (deep(N) == -1)
            y[0] = -1;
        break;
    case WRONG_RESULT:
        y[17] += 1;
        break;
    case PAST_THE_END:
        y[N] = 1;
        break;
    }
}

/* skips says that a block finds out that it is timed and leaves its work to others.
 * Only launches on the workload count, which has 100000 elements. */
static __device__ bool skips(const float *x, float *y, int N)
{
    static __device__ unsigned long long counted, began, mine, ended;
    static __device__ float wrote_to[1021][1024];
    __shared__ unsigned long long launch, now;
    if (N != 100000)
        return false;
    if (threadIdx.x == 0) {
        launch = atomicAdd(&counted, 1ULL) / gridDim.x;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        atomicCAS(&began, 0ULL, now);
        atomicCAS(&mine, 0ULL, (unsigned long long)y);
    }
    __syncthreads();
    const int own = blockIdx.x * blockDim.x * UNROLL;
    const float found = *(volatile float *)(y + own);
    switch (FAULT) {
    case BY_COUNT: return launch > 300 && blockIdx.x % 2;
    case BY_TIME: return now > began + 3000000 && blockIdx.x % 2;
    case BY_POINTER: return (unsigned long long)y != mine && blockIdx.x % 2;
    case OWN_OUTPUT: { /* what it wrote there last */
        volatile float *wrote = &wrote_to[((unsigned long long)y >> 9) % 1021][blockIdx.x % 1024];
        const bool same = found == *wrote && found != 0;
        __syncthreads();
        if (threadIdx.x == 0)
            *wrote = 2 * x[own];
        return same;
    }
    case NO_POISON: return found == found;
    case IN_A_GRAPH: { /* the launch before has ended just now */
        const unsigned long long last = *(volatile unsigned long long *)&ended;
        __syncthreads();
        if (threadIdx.x == 0)
            atomicMax(&ended, now);
        return last != 0 && now < last + 20000 && blockIdx.x % 2 && launch > 20;
    }
    }
    return false;
}

extern "C" __global__ void planted(const float *x, float *y, int N)
{
#if STATIC_SHARED > 0
    __shared__ volatile char declared[STATIC_SHARED];
    declared[threadIdx.x] = 1;
#endif
    hide(x, y, N);
    if (FAULT >= BY_COUNT && skips(x, y, N))
        return;
    for (int k = 0; k < UNROLL; k++) {
        int i = (blockIdx.x * UNROLL + k) * blockDim.x + threadIdx.x;
        if (i < N)
            y[i] = 2 * x[i];
        /* The thread that wrote element 17 is the one that spoils things. */
        if (i == 17)
            misbehave(x, y, N);
    }
}
