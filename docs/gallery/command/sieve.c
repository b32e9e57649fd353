#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts the primes up to N, one segment of numbers after the other: a short segment stays in
 * the caches, a long one has less to set up. */
int main(int argc, char **argv) {
	if (argc != 3)
		return 2;
	long n = atol(argv[1]), segment = atol(argv[2]), count = 0;
	char *composite = malloc((size_t)segment);
	if (composite == NULL || segment < 1)
		return 2;
	for (long low = 2; low <= n; low += segment) {
		long high = low + segment - 1 < n ? low + segment - 1 : n;
		memset(composite, 0, (size_t)segment);
		for (long p = 2; p * p <= high; p++) {
			long first = (low + p - 1) / p * p;
			for (long m = first < p * p ? p * p : first; m <= high; m += p)
				composite[m - low] = 1;
		}
		for (long i = low; i <= high; i++)
			count += !composite[i - low];
	}
	printf("%ld primes\n", count);
	free(composite);
	return 0;
}
