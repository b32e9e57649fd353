#include "particle.h"

// A spring to the origin, stiffer for some kinds.
__device__ void force(const particle *p, float result[3]) {
    for (int d = 0; d < 3; d++) result[d] = -(float)(p->kind + 1) * p->position[d] / (float)p->mass;
}
