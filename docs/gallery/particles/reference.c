#include "particle.h"

void move(struct particle *particles, struct step step, struct energy *energy) {
	for (long long i = 0; i < step.count; i++) {
		struct particle *p = &particles[i];
		double square = 0;
		for (int d = 0; d < 3; d++) {
			double velocity = p->velocity[d] - (double)step.time * (p->kind + 1) * p->position[d] / p->mass;
			p->position[d] = (float)(p->position[d] + step.time * velocity);
			p->velocity[d] = (float)velocity;
			square += velocity * velocity;
		}
		p->hits = (unsigned short)(p->hits + p->kind);
		energy[i].kind = p->kind;
		energy[i].kinetic = 0.5 * p->mass * square;
	}
}
