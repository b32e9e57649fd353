extern "C" __global__ void csr(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; i++)
        sum += (double)values[i] * x[columns[i]];
    y[row] = (float)sum;
}
