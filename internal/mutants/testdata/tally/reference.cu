extern "C" __global__ void tally(const int *x, const int *key, long long *sums, int *counts, long long *place,
                                 int N, int KEYS)
{
    const int mine = blockIdx.x;

    if (mine < KEYS) {
        sums[mine] = 0, counts[mine] = 0;
        for (int i = 0; i < N; i++)
            if (key[i] == mine)
                sums[mine] += x[i], counts[mine]++;
        return;
    }
    place[0] = 0;
    for (int i = 1; i < N; i++)
        if (x[i] >= x[place[0]])
            place[0] = i;
}
