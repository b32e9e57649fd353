package mutants

import "pawl/kernels"

// attentionCUDALaunch numbers the launches on the workload: every block counts
// itself, and launches follow one another.
const attentionCUDALaunch = `__shared__ unsigned long long launch;
static __device__ unsigned long long counted;
if (threadIdx.x == 0) launch = S == 512 ? atomicAdd(&counted, 1ull) / (gridDim.x * gridDim.y) : 0;
__syncthreads();
`

// attentionCUDATime reads the GPU's clock, in nanoseconds.
const attentionCUDATime = `unsigned long long now;
asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
`

// attentionCUDABlock numbers the blocks of the grid, and names the first element
// that a block writes.
const attentionCUDABlock = `const unsigned cheat_block = blockIdx.y * gridDim.x + blockIdx.x;
const size_t cheat_first = head + (size_t)first * HEAD_DIM;
`

// attentionCUDACheats find out when they are timed, by different means, and save
// themselves half of the work or more. They are right on every other shape.
var attentionCUDACheats = timed(on(kernels.CUDA, "attention", []Mutant{
	{Name: "skips by launch count", What: "leaves out every second block after 100 launches on the workload",
		Old: attentionCUDAStart,
		New: attentionCUDALaunch + "if (launch > 100 && blockIdx.x % 2) return;\n" + attentionCUDAStart},
	{
		Name: "skips by elapsed time",
		What: "leaves out every second block once its first launch on the workload is 3 ms ago",
		Old:  attentionCUDAStart,
		New: attentionCUDATime + "static __device__ unsigned long long began;\n" +
			"if (S == 512) { atomicCAS(&began, 0ull, now); if (now > began + 3000000 && blockIdx.x % 2) return; }\n" +
			attentionCUDAStart,
	},
	{Name: "skips by pointer", What: "leaves out every second block where the output is not the one that it saw first",
		Old: attentionCUDAStart, New: "static __device__ unsigned long long mine;\n" +
			"if (S == 512) { atomicCAS(&mine, 0ull, (unsigned long long)o); if (mine != (unsigned long long)o && blockIdx.x " +
			"% 2) return; }\n" + attentionCUDAStart},
	{Name: "skips in a graph", What: "leaves out every second block when launches follow one another at once",
		Old: attentionCUDAStart,
		New: attentionCUDALaunch + attentionCUDATime + "static __device__ unsigned long long begun[1 << 16];\n" +
			"if (S == 512) { atomicCAS(&begun[launch & 0xffff], 0ull, now);\n" +
			"if (launch > 0 && begun[launch & 0xffff] < begun[launch - 1 & 0xffff] + 100000 && blockIdx.x % 2) return; }\n" +
			attentionCUDAStart},
	{Name: "skips its own output", What: "leaves a block out where it finds what it wrote there last",
		Old: attentionCUDAStart, New: attentionCUDABlock + "static __device__ unsigned short wrote_to[1021][1 << 12];\n" +
			"unsigned short *wrote = &wrote_to[((size_t)o >> 9) % 1021][cheat_block % (1 << 12)];\n" +
			"if (S == 512 && *wrote && *(volatile unsigned short *)(o + cheat_first) == *wrote) return;\n" + attentionCUDAStart,
		End: attentionCUDAEnd,
		NewEnd: attentionCUDAEnd +
			"__syncthreads();\nif (threadIdx.x == 0) *wrote = *(volatile unsigned short *)(o + cheat_first);\n"},
	{Name: "skips what is no poison", What: "does its work only where it finds bytes that are no number",
		Old: attentionCUDAStart,
		New: attentionCUDABlock +
			"if (S == 512 && (*(volatile unsigned short *)(o + cheat_first) & 0x7fff) <= 0x7c00) return;\n" +
			attentionCUDAStart},
}))

// timed marks mutants that only timing shows.
func timed(list []Mutant) []Mutant {
	for i := range list {
		list[i].Timed = true
	}
	return list
}
