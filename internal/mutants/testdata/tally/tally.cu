/* A block of threads for each key, and one more for the place of the largest. */
static __device__ bool beyond(int a, long long at, int b, long long bt)
{
    return a > b || (a == b && at > bt);
}

static __device__ void sum(const int *x, const int *key, long long *sums, int *counts, int N, int mine)
{
    __shared__ long long totals[THREADS];
    __shared__ int numbers[THREADS];
    long long total = 0;
    int number = 0;

    for (int i = threadIdx.x; i < N; i += THREADS)
        if (key[i] == mine) {
            total += x[i];
            number++;
        }
    totals[threadIdx.x] = total, numbers[threadIdx.x] = number;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            totals[threadIdx.x] += totals[threadIdx.x + half];
            numbers[threadIdx.x] += numbers[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0)
        sums[mine] = totals[0], counts[mine] = numbers[0];
}

static __device__ void find(const int *x, long long *place, int N)
{
    __shared__ long long places[THREADS];
    long long last = threadIdx.x < N ? threadIdx.x : 0;

    for (int i = threadIdx.x; i < N; i += THREADS)
        if (x[i] >= x[last])
            last = i;
    places[threadIdx.x] = last;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            const long long a = places[threadIdx.x], b = places[threadIdx.x + half];
            places[threadIdx.x] = beyond(x[b], b, x[a], a) ? b : a;
        }
    }
    if (threadIdx.x == 0)
        place[0] = places[0];
}

extern "C" __global__ void tally(const int *x, const int *key, long long *sums, int *counts, long long *place,
                                 int N, int KEYS)
{
    if (blockIdx.x < KEYS)
        sum(x, key, sums, counts, N, blockIdx.x);
    else
        find(x, place, N);
}
