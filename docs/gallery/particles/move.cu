#include "particle.h"

__device__ void force(const particle *p, float result[3]);

extern "C" __global__ void move(particle *particles, step step, energy *energy) {
    long long first = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * BATCH;
    float forces[BATCH][3];
    for (int k = 0; k < BATCH; k++)
        if (first + k < step.count) force(&particles[first + k], forces[k]);
    for (int k = 0; k < BATCH; k++) {
        long long i = first + k;
        if (i >= step.count) return;
        particle *p = &particles[i];
        double square = 0;
        for (int d = 0; d < 3; d++) {
            p->velocity[d] += step.time * forces[k][d];
            p->position[d] += step.time * p->velocity[d];
            square += (double)p->velocity[d] * p->velocity[d];
        }
        p->hits += p->kind;
        energy[i].kind = p->kind;
        energy[i].kinetic = 0.5 * p->mass * square;
    }
}
