/* LANES threads share a row and add their sums at the end. */
extern "C" __global__ void csr(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows)
{
    int thread = blockIdx.x * THREADS + threadIdx.x, row = thread / LANES, lane = thread % LANES;
    float sum = 0;
    if (row < rows)
        for (int i = starts[row] + lane; i < starts[row + 1]; i += LANES)
            sum += values[i] * x[columns[i]];
    for (int other = LANES / 2; other > 0; other /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, other, LANES);
    if (row < rows && lane == 0)
        y[row] = sum;
}
