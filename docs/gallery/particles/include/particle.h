// What the manifest has as fields: in C each begins at a multiple of its size.
struct particle {
	unsigned char kind;
	double mass;
	float position[3], velocity[3];
	unsigned short hits;
};
struct step {
	float time;
	long long count;
};
struct energy {
	int kind;
	double kinetic;
};
