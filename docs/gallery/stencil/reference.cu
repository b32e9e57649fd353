/* A cell after some steps, from its neighbors one step before. */
template <int Steps> __device__ double after_steps(const float *before, int y, int x, int height, int width)
{
    double t = after_steps<Steps - 1>(before, y, x, height, width);
    double up = y > 0 ? after_steps<Steps - 1>(before, y - 1, x, height, width) : t;
    double down = y < height - 1 ? after_steps<Steps - 1>(before, y + 1, x, height, width) : t;
    double left = x > 0 ? after_steps<Steps - 1>(before, y, x - 1, height, width) : t;
    double right = x < width - 1 ? after_steps<Steps - 1>(before, y, x + 1, height, width) : t;
    return t + 0.2 * (up + down + left + right - 4 * t);
}

template <> __device__ double after_steps<0>(const float *before, int y, int x, int, int width)
{
    return before[(size_t)y * width + x];
}

extern "C" __global__ void stencil(const float *before, float *after, int height, int width)
{
    int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < height && x < width)
        after[(size_t)y * width + x] = (float)after_steps<STEPS>(before, y, x, height, width);
}
