#include <stdint.h>
#include <string.h>

enum { ROWS = TILE_Y + 2 * STEPS, COLUMNS = TILE_X + 2 * STEPS };

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }
static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

/* One step on the cells of a tile; no heat leaves the plate. */
static void step(float (*from)[COLUMNS], float (*to)[COLUMNS], int32_t top, int32_t left, int32_t y0, int32_t y1, int32_t x0, int32_t x1, int32_t height, int32_t width)
{
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = x0; x < x1; x++) {
            int32_t r = y - top, c = x - left;
            float t = from[r][c];
            float up = y > 0 ? from[r - 1][c] : t, down = y < height - 1 ? from[r + 1][c] : t;
            float before = x > 0 ? from[r][c - 1] : t, behind = x < width - 1 ? from[r][c + 1] : t;
            to[r][c] = t + 0.2f * (up + down + before + behind - 4 * t);
        }
}

/* STEPS steps on a tile, from cells that reach as far beyond it. */
static void advance(const float *from, float *to, int32_t y, int32_t x, int32_t height, int32_t width)
{
    float cells[2][ROWS][COLUMNS];
    int32_t top = larger(y - STEPS, 0), bottom = smaller(y + TILE_Y + STEPS, height);
    int32_t left = larger(x - STEPS, 0), right = smaller(x + TILE_X + STEPS, width);
    for (int32_t r = top; r < bottom; r++)
        memcpy(cells[0][r - top], from + (int64_t)r * width + left, sizeof(float) * (right - left));
    for (int s = 1; s <= STEPS; s++)
        step(cells[(s - 1) % 2], cells[s % 2], top, left, top + (top > 0 ? s : 0), bottom - (bottom < height ? s : 0),
             left + (left > 0 ? s : 0), right - (right < width ? s : 0), height, width);
    for (int32_t r = y; r < smaller(y + TILE_Y, height); r++)
        memcpy(to + (int64_t)r * width + x, &cells[STEPS % 2][r - top][x - left], sizeof(float) * (smaller(x + TILE_X, width) - x));
}

void stencil(const float *before, float *after, int32_t height, int32_t width)
{
    for (int32_t y = 0; y < height; y += TILE_Y)
        for (int32_t x = 0; x < width; x += TILE_X)
            advance(before, after, y, x, height, width);
}
