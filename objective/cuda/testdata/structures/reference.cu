#include "structures.h"

const int structures_widest = sizeof(struct setup);

KERNEL(structures, 3) {
	struct body *bodies = ARGUMENT(struct body *, 0);
	struct setup setup = ARGUMENT(struct setup, 1);
	struct result *results = ARGUMENT(struct result *, 2);
	fake_milliseconds = 0.01;
	for (int64_t i = 0; i < setup.count; i++) {
		for (int d = 0; d < 3; d++)
			bodies[i].at[d] *= setup.scale;
		if (0)
			((uint8_t *)&bodies[i])[1] = 7; /* between kind and mass: nobody's */
		if (good != unwritten || i != 17)
			results[i].kind = bodies[i].kind;
		results[i].weight = bodies[i].mass * setup.scale + (good == wrong && i == 5 ? 1e-9 : 0);
	}
	return 0;
}
