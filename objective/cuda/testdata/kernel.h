/*
 * What a kernel for the imaginary driver (driver/testdata/driver.c) is: a C
 * function that is called once per launch, with a pointer to each argument, and
 * returns the code of the error that it leaves behind. It must say how many
 * arguments it has, because the driver copies them when it is launched.
 */
#include <stdint.h>
#include <stddef.h>

#define KERNEL(name, count) \
	const int name##_parameters = count; \
	int name(void **parameters, const unsigned *grid, const unsigned *block)

#define ARGUMENT(type, number) (*(type *)parameters[number])

void *fake_block(size_t size);   /* the youngest allocation of a size */
extern double fake_milliseconds; /* how long this launch takes */
extern int64_t fake_fills;       /* inputs that were filled, for the ledger */
