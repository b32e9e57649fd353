KERNEL(add, 4) {
	const float *a = ARGUMENT(float *, 0), *b = ARGUMENT(float *, 1);
	float *c = ARGUMENT(float *, 2);
	for (int i = 0; i < ARGUMENT(int32_t, 3); i++)
		c[i] = (float)((double)a[i] + (double)b[i]);
	return 0;
}
