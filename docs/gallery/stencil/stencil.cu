#define ROWS (TILE_Y + 2 * STEPS)
#define COLUMNS (TILE_X + 2 * STEPS)

/* All STEPS steps on a tile and the cells around it, as far as they reach. */
extern "C" __global__ void stencil(const float *before, float *after, int height, int width)
{
    __shared__ float cells[2][ROWS][COLUMNS];
    int top = blockIdx.y * TILE_Y - STEPS, left = blockIdx.x * TILE_X - STEPS;
    int thread = threadIdx.y * TILE_X + threadIdx.x;
    for (int i = thread; i < ROWS * COLUMNS; i += TILE_X * TILE_Y) {
        int y = top + i / COLUMNS, x = left + i % COLUMNS;
        if (y >= 0 && y < height && x >= 0 && x < width)
            cells[0][i / COLUMNS][i % COLUMNS] = before[(size_t)y * width + x];
    }
    for (int s = 1; s <= STEPS; s++) {
        __syncthreads();
        float (*from)[COLUMNS] = cells[(s - 1) % 2], (*to)[COLUMNS] = cells[s % 2];
        for (int i = thread; i < ROWS * COLUMNS; i += TILE_X * TILE_Y) {
            int r = i / COLUMNS, c = i % COLUMNS, y = top + r, x = left + c;
            if (r < s || r >= ROWS - s || c < s || c >= COLUMNS - s || y < 0 || y >= height || x < 0 || x >= width)
                continue;
            float t = from[r][c];
            float up = y > 0 ? from[r - 1][c] : t, down = y < height - 1 ? from[r + 1][c] : t;
            float ahead = x > 0 ? from[r][c - 1] : t, behind = x < width - 1 ? from[r][c + 1] : t;
            to[r][c] = t + 0.2f * (up + down + ahead + behind - 4 * t);
        }
    }
    __syncthreads(); // a cell was computed by whichever thread came to it
    int y = top + STEPS + threadIdx.y, x = left + STEPS + threadIdx.x;
    if (y < height && x < width)
        after[(size_t)y * width + x] = cells[STEPS % 2][STEPS + threadIdx.y][STEPS + threadIdx.x];
}
