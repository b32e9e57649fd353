/* All arguments but scratch, in the manifest's order: variables of the kernel are parameters. */
KERNEL(changes, 6) {
	const float *x = ARGUMENT(float *, 0), *scale = ARGUMENT(float *, 1);
	uint32_t *counts = ARGUMENT(uint32_t *, 2);
	float *v = ARGUMENT(float *, 3);
	int N = ARGUMENT(int32_t, 4);
	for (int i = 0; i < N; i++) {
		v[i] = (float)((double)v[i] + (double)x[i] * scale[0] + (double)scale[1] * ARGUMENT(int32_t, 5));
		counts[i % 8]++;
	}
	return 0;
}
