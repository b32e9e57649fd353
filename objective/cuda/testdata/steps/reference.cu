#ifdef LAZY
#error the result does not depend on it
#endif
KERNEL(twice, 3) {
	const float *x = ARGUMENT(float *, 0);
	float *y = ARGUMENT(float *, 1);
	int N = ARGUMENT(int32_t, 2);
	for (int i = 0; i < N; i++)
		y[i] = (float)(x[i] * (double)(1 << STEPS));
	return 0;
}
