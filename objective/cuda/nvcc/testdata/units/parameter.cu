// READ changes the code; UNREAD changes nothing that executes.
__constant__ float weights[4] = {1, 2, 3, 4};

static_assert(sizeof UNREAD > 0, "looked at, but no code comes of it");

extern "C" __global__ void sum(float *y, int n) {
	float total = 0;
#pragma unroll
	for (int i = 0; i < READ; i++) total += y[i * n] * weights[(i + n) & 3];
	y[n] = total;
}
