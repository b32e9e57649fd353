#include "particle.h"

void force(const struct particle *p, float result[3]);

// A spring to the origin, stiffer for some kinds.
void force(const struct particle *p, float result[3]) {
	for (int d = 0; d < 3; d++)
		result[d] = -(float)(p->kind + 1) * p->position[d] / (float)p->mass;
}
