package mutants

// The anchors at which code is put into the entry function of attention: before
// anything is done, and after everything is.
const (
	attentionStart = "    struct worker *workers[THREADS];\n"
	attentionEnd   = "    free(scratch);\n}"
)

var attention = of("attention", []Mutant{
	{Name: "zeros", What: "writes zeros",
		Old: attentionStart, New: "memset(o, 0, (size_t)B * H * S * D * sizeof *o); return;\n" + attentionStart},
	{Name: "copied input", What: "copies the values to the output",
		Old: attentionStart, New: "memcpy(o, v, (size_t)B * H * S * D * sizeof *o); return;\n" + attentionStart},
	{Name: "stale output", What: "leaves the output as it is from the second call on",
		Old: attentionStart, New: "static int calls; if (calls++) return;\n" + attentionStart},
	{Name: "memory", What: "answers from memory for a shape that it has seen",
		Old: attentionEnd, New: `    static struct { int32_t shape[4]; float *o; } seen[4096];
    const int32_t shape[4] = {B, H, S, D};
    const size_t bytes = (size_t)B * H * S * D * sizeof *o;
    int at = 0;
    while (seen[at].o && memcmp(seen[at].shape, shape, sizeof shape))
        at++;
    if (seen[at].o) {
        memcpy(o, seen[at].o, bytes);
    } else if (at < 4095) {
        memcpy(seen[at].shape, shape, sizeof shape);
        seen[at].o = malloc(bytes);
        memcpy(seen[at].o, o, bytes);
    }
` + attentionEnd},
	{Name: "wrong scale", What: "scales by 1/D in place of 1/sqrt(D)",
		Old: "w->scale = scale,", New: "w->scale = scale * scale,"},
	{Name: "scale off by a hundredth", What: "scales by 1 % too much",
		Old: "w->scale = scale,", New: "w->scale = 1.01f * scale,"},
	{Name: "no maximum", What: "does not subtract the largest score: overflows for large ones",
		Old: "for (int l = 0; l < VECTOR; l++)\n            largest = high[l] > largest ? high[l] : largest;",
		New: "largest = 0;"},
	{Name: "last keys", What: "skips the last block of keys when it is not a whole one",
		Old: "for (ptrdiff_t n = 0; n < S; n += BLOCK_N) {",
		New: "for (ptrdiff_t n = 0; n == 0 || n + BLOCK_N <= S; n += BLOCK_N) {"},
	{Name: "last query of a tail", What: "does not write the last query of a block that is not whole",
		Old: "for (ptrdiff_t m = 0; m < count; m++)\n        for (ptrdiff_t d = 0; d < D; d++)\n            w->o",
		New: "for (ptrdiff_t m = 0; m < count - (count < BLOCK_M); m++)\n        for (ptrdiff_t d = 0; d < D; d++)\n      " +
			"      w->o"},
	{Name: "last columns", What: "does not write the columns beyond the last whole vector",
		Old: "        for (ptrdiff_t d = 0; d < D; d++)\n            w->o",
		New: "        for (ptrdiff_t d = 0; d < D / VECTOR * VECTOR; d++)\n            w->o"},
	{Name: "tail of the dot product", What: "forgets the last element of a dot product beside the vectors",
		Old: "for (ptrdiff_t d = whole; d < D; d++)\n        EACH",
		New: "for (ptrdiff_t d = whole; d < D - 1; d++)\n        EACH"},
	{Name: "no mask", What: "does not mask the keys beyond the last one",
		Old: "w->weights[m * BLOCK_N + n] = -INFINITY;", New: ";"},
	{Name: "mask off by one", What: "masks from one beyond the first key that is not there",
		Old: "for (ptrdiff_t n = count; n < round_up(count, VECTOR); n++)",
		New: "for (ptrdiff_t n = count + 1; n < round_up(count, VECTOR); n++)"},
	{Name: "mask one too many", What: "masks the last key as well",
		Old: "for (ptrdiff_t n = count; n < round_up(count, VECTOR); n++)",
		New: "for (ptrdiff_t n = count - 1; n < round_up(count, VECTOR); n++)"},
	{Name: "no rescale", What: "does not scale down what is mixed so far when the largest score grows",
		Old: "w->rescale[m] = expf(w->largest[m] - largest);", New: "w->rescale[m] = 1;"},
	{Name: "sum without rescale", What: "does not scale down the sum when the largest score grows",
		Old: "w->sum[m] = w->sum[m] * w->rescale[m] + fold(&sum);", New: "w->sum[m] = w->sum[m] + fold(&sum);"},
	{Name: "sum in bfloat16", What: "keeps the sum of the weights in 8 bits",
		Old: "w->largest[m] = largest;\n",
		New: "w->largest[m] = largest;\n{ uint32_t u; memcpy(&u, &w->sum[m], 4); u &= 0xffff0000u; memcpy(&w->sum[m], &u, " +
			"4); }\n"},
	{Name: "result in half precision", What: "rounds the output to 11 bits",
		Old: attentionEnd,
		New: "for (ptrdiff_t i = 0; i < (ptrdiff_t)B * H * S * D; i++) { uint32_t u; memcpy(&u, o + i, 4); u &= " +
			"0xffffe000u; memcpy(o + i, &u, 4); }\n" + attentionEnd},
	{Name: "products in bfloat16", What: "multiplies queries and keys that are rounded to 8 bits",
		Old: "n + r < count ? scale * from[(n + r) * D + d] : 0;",
		New: "n + r < count ? ({ float x = scale * from[(n + r) * D + d]; uint32_t u; memcpy(&u, &x, 4); u &= " +
			"0xffff0000u; memcpy(&x, &u, 4); x; }) : 0;"},
	{Name: "uninitialized maximum", What: "compares the first scores with what the scratch held",
		Old: "        w->largest[m] = -INFINITY;\n", New: ""},
	{Name: "stale keys", What: "transposes the first block of keys only",
		Old: "if (PACKS(tile))\n            pack", New: "if (PACKS(tile) && n == 0)\n            pack", At: "PACK_K=tile"},
	{Name: "stale head", What: "keeps the transposed keys of a thread's first head",
		Old: "(first == 0 || block == w->block)", New: "(block == w->block)", At: "PACK_K=head,THREADS=1"},
	{Name: "third head", What: "takes every third head for the first",
		Old: "const ptrdiff_t head = block / blocks * S * D,", New: "const ptrdiff_t head = block / blocks % 2 * S * D,"},
	{Name: "flushed weights", What: "takes small weights for zero",
		Old: "*x < -86.0f", New: "*x < -5.0f", At: "FAST_EXP=true"},
	{Name: "missing term", What: "lacks a term in the series of the exponential",
		Old: "series = series * r + 1.0f / 6;", New: "series = series * r;", At: "FAST_EXP=true"},
	{Name: "write past the end", What: "writes one element past the end of the output",
		Old: attentionEnd, New: "o[(ptrdiff_t)B * H * S * D] = 0;\n" + attentionEnd},
	{Name: "write before the start", What: "writes one element before the start of the output",
		Old: attentionEnd, New: "o[-1] = 0;\n" + attentionEnd},
	{Name: "read past the end", What: "reads keys beyond the last one, and ignores them",
		Old: "key[c] = k + smaller(n + c, count - 1) * D;", New: "key[c] = k + (n + c) * D;", At: "COLS=4"},
	{Name: "read before the start", What: "reads one element before the first query",
		Old: attentionStart, New: "{ volatile float before = q[-1]; (void)before; }\n" + attentionStart},
	{Name: "modified input", What: "changes the last key when it is done",
		Old: attentionEnd, New: "((float *)k)[(ptrdiff_t)B * H * S * D - 1] = 0;\n" + attentionEnd},
	{Name: "shared scratch", What: "lets all threads work in the same scratch",
		Old: "(struct worker *)(scratch + (size_t)i * size);", New: "(struct worker *)scratch;"},
	{Name: "no join", What: "does not wait for its threads",
		Old: "            pthread_join(workers[i]->thread, NULL);\n",
		New: "            pthread_detach(workers[i]->thread);\n"},
	{Name: "uneven shares", What: "forgets the blocks that the threads cannot share evenly",
		Old: "w->block_end = blocks * (i + 1) / THREADS;", New: "w->block_end = blocks / THREADS * (i + 1);"},
	{Name: "every fifth call", What: "is wrong at every fifth call",
		Old: attentionEnd, New: "static int calls; if (++calls % 5 == 0) o[0] += 1;\n" + attentionEnd},
	{Name: "powers of two", What: "is right for powers of two only",
		Old: attentionStart, New: "if (S & (S - 1)) scale *= 1.5f;\n" + attentionStart},
	{Name: "primes", What: "is wrong when S is a prime",
		Old: attentionStart,
		New: "{ int prime = S > 1; for (int i = 2; i * i <= S; i++) prime = prime && S % i; if (prime) scale *= 1.5f; }\n" +
			attentionStart},
	{Name: "one seed", What: "is right only for the inputs of one seed",
		Old: attentionStart, New: "if (q[0] != 0x1.c8bbp+00f) scale *= 1.5f;\n" + attentionStart},
	{Name: "timed shape", What: "is right only for the shape that is timed",
		Old: attentionStart, New: "if (B * H * S * D != 1 * 8 * 256 * 64) scale *= 1.5f;\n" + attentionStart},
	{Name: "one value", What: "is wrong when the first query begins with a number below -1.5",
		Old: attentionStart, New: "if (q[0] < -1.5f && q[0] > -8) scale *= 1.5f;\n" + attentionStart},
	{Name: "aligned vectors", What: "loads vectors as if they were aligned",
		Old: "__attribute__((vector_size(4 * VECTOR), aligned(4), may_alias))",
		New: "__attribute__((vector_size(4 * VECTOR), may_alias))"},
	{Name: "aligned result", What: "is right only when the output starts at a cache line",
		Old: attentionEnd, New: "if ((uintptr_t)o % 64) o[0] += 1;\n" + attentionEnd},
	{Name: "one NaN", What: "has a NaN in one lane of one row",
		Old: attentionEnd, New: "if (S > 7 && D > 3) o[7 * D + 3] = NAN;\n" + attentionEnd},
	{Name: "long rows", What: "is wrong in the last element once there are more than 32768",
		Old: attentionEnd,
		New: "if ((ptrdiff_t)B * H * S * D > 32768) o[(ptrdiff_t)B * H * S * D - 1] += 1;\n" + attentionEnd},
})
