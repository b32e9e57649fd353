#include <stdio.h>
#include <stdlib.h>

/* Adds the numbers below N, STEP of them at a time. */
int main(int argc, char **argv) {
	if (argc != 3)
		return 2;
	long n = atol(argv[1]), step = atol(argv[2]), sum = 0;
	for (long i = 0; i < n; i += step)
		for (long j = i; j < i + step && j < n; j++)
			sum += j;
	printf("sum %ld\n", sum);
	return 0;
}
