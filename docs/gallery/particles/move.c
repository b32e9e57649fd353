#include "particle.h"

void force(const struct particle *p, float result[3]);

void move(struct particle *particles, struct step step, struct energy *energy) {
	for (long long first = 0; first < step.count; first += BATCH) {
		float forces[BATCH][3];
		long long last = first + BATCH < step.count ? first + BATCH : step.count;
		for (long long i = first; i < last; i++)
			force(&particles[i], forces[i - first]);
		for (long long i = first; i < last; i++) {
			struct particle *p = &particles[i];
			double square = 0;
			for (int d = 0; d < 3; d++) {
				p->velocity[d] += step.time * forces[i - first][d];
				p->position[d] += step.time * p->velocity[d];
				square += (double)p->velocity[d] * p->velocity[d];
			}
			p->hits += p->kind;
			energy[i].kind = p->kind;
			energy[i].kinetic = 0.5 * p->mass * square;
		}
	}
}
