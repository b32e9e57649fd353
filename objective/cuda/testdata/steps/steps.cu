KERNEL(twice, 3) {
	const float *x = ARGUMENT(float *, 0);
	float *y = ARGUMENT(float *, 1);
	int N = ARGUMENT(int32_t, 2);
	for (int i = 0; i < N; i++) {
		y[i] = x[i];
		for (int s = LAZY; s < STEPS; s++)
			y[i] *= 2;
	}
	fake_milliseconds = 0.01;
	return 0;
}
