/* The sum of every row in double precision, a block of 256 threads per row. */
extern "C" __global__ void reduce(const float *x, float *y, int R, int C)
{
    __shared__ double parts[256];
    const float *row = x + (size_t)blockIdx.x * C;
    double sum = 0;
    for (int c = threadIdx.x; c < C; c += 256)
        sum += row[c];
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[blockIdx.x] = (float)parts[0];
}
