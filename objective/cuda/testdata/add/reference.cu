KERNEL(add, 4) {
	const float *a = ARGUMENT(float *, 0), *b = ARGUMENT(float *, 1);
	float *c = ARGUMENT(float *, 2);
	int N = ARGUMENT(int32_t, 3);
	for (int i = 0; i < N; i++)
		c[i] = (float)((double)a[i] + (double)b[i]);
	return N == 50001 ? 700 : 0; /* the workload cursed breaks the context */
}
