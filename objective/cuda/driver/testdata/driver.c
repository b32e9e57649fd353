/*
 * A CUDA driver without a GPU, for tests: libcuda.so.1 as far as this project
 * calls it.
 *
 * A module is an ELF file whose section .image is a shared object for this
 * machine, and a kernel is a C function in it (see kernel.h of the package
 * above). Work is queued and done when somebody waits, and copies of the
 * default stream are not ordered with other streams, as on a real GPU: code that
 * forgets to wait sees old bytes here every time and not once in a while.
 *
 * Everything that lives is counted in a ledger, a file per process that the
 * test reads. What no program may do, such as freeing twice, is a violation
 * and stands there too.
 *
 * The environment: PAWL_FAKE_LEDGER, the folder of ledgers; PAWL_FAKE_INIT, the
 * code that cuInit fails with; PAWL_FAKE_DEVICES, how many GPUs there are;
 * PAWL_FAKE_MEMORY, the bytes of each; PAWL_FAKE_SHARED, the bytes of shared
 * memory that are really given to a block. TOO_OLD leaves a call out.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { invalid_value = 1, out_of_memory = 2, not_initialised = 3, no_device = 100, invalid_device = 101,
       invalid_image = 200, invalid_context = 201, invalid_handle = 400, not_found = 500, not_ready = 600,
       out_of_resources = 701, capture_illegal = 900 };

/* The last-level cache is small, so that tests can cover it with small buffers. */
enum { cache_size = 64 << 10, shared_default = 48 << 10, shared_most = 232448, registers = 65536, most_devices = 8 };

/* ledger is read by ledger in fake_test.go of the package above. */
static struct ledger {
	int64_t device; /* the last byte of its UUID */
	int64_t blocks, bytes, modules, streams, events, graphs, executables, contexts; /* alive now */
	int64_t allocations, fills, launches, graph_launches, flushes; /* ever */
	int64_t graph_nodes, graph_buffers; /* of the last graph that was launched */
	int64_t profiled; /* launches that a profiler would see */
	int64_t violations;
	char violation[256]; /* the first */
} unseen, *ledger = &unseen;

static void violate(const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	if (ledger->violations++ == 0)
		vsnprintf(ledger->violation, sizeof ledger->violation, format, arguments);
	va_end(arguments);
}

static long number(const char *variable, long otherwise) {
	const char *text = getenv(variable);
	return text && *text ? atol(text) : otherwise;
}

static void open_ledger(void) {
	const char *folder = getenv("PAWL_FAKE_LEDGER");
	char path[4096];
	if (!folder)
		return;
	snprintf(path, sizeof path, "%s/%d", folder, (int)getpid());
	int file = open(path, O_RDWR | O_CREAT, 0644);
	if (file < 0 || ftruncate(file, sizeof *ledger))
		abort();
	struct ledger *shared = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (shared == MAP_FAILED)
		abort();
	close(file);
	ledger = shared;
}

/* Codes. A kernel that fails leaves its code for every later call. */

static int initialised, sticky;

#define CHECK() do { if (!initialised) return not_initialised; if (sticky) return sticky; } while (0)

static const struct { int code; const char *name, *meaning; } codes[] = {
	{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	{304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
	{400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
	{702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
	{710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
	{716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
	{719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
	{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
};

static int text_of(int code, const char **text, int meaning) {
	for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++)
		if (codes[i].code == code) {
			*text = meaning ? codes[i].meaning : codes[i].name;
			return 0;
		}
	*text = NULL;
	return invalid_value;
}
int cuGetErrorName(int code, const char **text) { return text_of(code, text, 0); }
int cuGetErrorString(int code, const char **text) { return text_of(code, text, 1); }

/* Devices. CUDA_VISIBLE_DEVICES lists UUIDs; the first that is not there ends the list. */

static int visible[most_devices], count;

static void uuid_of(int device, unsigned char *uuid) {
	for (int i = 0; i < 15; i++)
		uuid[i] = i;
	uuid[15] = 15 + device;
}

static int named(const char *name, size_t length) {
	for (int device = 0; device < number("PAWL_FAKE_DEVICES", 1) && device < most_devices; device++) {
		unsigned char u[16];
		char text[64];
		uuid_of(device, u);
		snprintf(text, sizeof text, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
		if (strlen(text) == length && !strncmp(text, name, length))
			return device;
	}
	return -1;
}

static void find_devices(void) {
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	count = 0;
	if (!list) {
		for (int device = 0; device < number("PAWL_FAKE_DEVICES", 1) && device < most_devices; device++)
			visible[count++] = device;
		return;
	}
	while (*list && count < most_devices) {
		size_t length = strcspn(list, ",");
		int device = named(list, length);
		if (device < 0)
			return;
		visible[count++] = device;
		list += length + (list[length] == ',');
	}
}

int cuInit(unsigned flags) {
	int refusal = number("PAWL_FAKE_INIT", 0);
	if (refusal || flags)
		return refusal ? refusal : invalid_value;
	find_devices();
	if (count == 0 && number("PAWL_FAKE_DEVICES", 1) > 0)
		return no_device;
	if (!initialised)
		open_ledger();
	initialised = 1;
	return 0;
}
int cuDriverGetVersion(int *version) { *version = 13010; return 0; }
int cuDeviceGetCount(int *to) { CHECK(); *to = count; return 0; }
int cuDeviceGet(int *device, int ordinal) {
	CHECK();
	if (ordinal < 0 || ordinal >= count)
		return invalid_device;
	*device = ordinal;
	return 0;
}
int cuDeviceGetName(char *to, int room, int device) { CHECK(); snprintf(to, room, "Imaginary H200"); return 0; }
int cuDeviceGetPCIBusId(char *to, int room, int device) {
	CHECK();
	snprintf(to, room, "0000:%02X:00.0", 0x1b + visible[device]);
	return 0;
}
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) { CHECK(); uuid_of(visible[device], uuid); return 0; }
static size_t memory(void) { return number("PAWL_FAKE_MEMORY", 64 << 20); }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { CHECK(); *bytes = memory(); return 0; }

/* An H200, but for the cache. */
static const struct { int attribute, value; } attributes[] = {
	{1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647}, {6, 65535}, {7, 65535}, {10, 32}, {12, registers},
	{13, 1980000}, {16, 132}, {36, 3201000}, {37, 6144}, {38, cache_size}, {39, 2048}, {75, 9}, {76, 0},
	{81, 233472}, {82, 65536}, {97, shared_most},
};
int cuDeviceGetAttribute(int *value, int attribute, int device) {
	CHECK();
	for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (attributes[i].attribute == attribute && device >= 0 && device < count) {
			*value = attributes[i].value;
			return 0;
		}
	return invalid_value;
}

/* Handles: every live one is in a list, so that a dead one is known. */

enum kind { a_module = 1, a_function, a_stream, an_event, a_graph, an_executable };

struct handle { enum kind kind; struct handle *next; };
static struct handle *handles;

static void *new_handle(enum kind kind, size_t size, int64_t *counter) {
	struct handle *h = calloc(1, size);
	h->kind = kind;
	h->next = handles;
	handles = h;
	if (counter)
		++*counter;
	return h;
}
static int alive(const void *wanted, enum kind kind) {
	for (struct handle *h = handles; h; h = h->next)
		if (h == wanted && h->kind == kind)
			return 1;
	violate("a handle of kind %d that is not alive", kind);
	return 0;
}
static void drop(void *dead, int64_t *counter) {
	for (struct handle **h = &handles; *h; h = &(*h)->next)
		if (*h == dead) {
			*h = (*h)->next;
			free(dead);
			if (counter)
				--*counter;
			return;
		}
}

/* Memory. */

struct block { char *start; size_t size; struct block *next; };
static struct block *blocks, *globals; /* the variables of modules that were asked for */

static int inside(const void *address, size_t size) {
	for (struct block *b = blocks; b; b = b->next)
		if ((char *)address >= b->start && (char *)address + size <= b->start + b->size)
			return 1;
	for (struct block *b = globals; b; b = b->next)
		if ((char *)address >= b->start && (char *)address + size <= b->start + b->size)
			return 1;
	violate("%zu bytes outside any allocation", size);
	return 0;
}

/* fake_block is for kernels that mean harm: the youngest allocation of a size. */
void *fake_block(size_t size) {
	for (struct block *b = blocks; b; b = b->next)
		if (b->size == size)
			return b->start;
	return NULL;
}

/* Work that waits to be done. */

struct function {
	struct handle handle;
	int (*code)(void **, const unsigned *, const unsigned *);
	int parameters, registers, shared, widest;
	struct function *sibling;
};
struct node {
	struct function *function;
	unsigned grid[3], block[3];
	uint64_t values[64][2];
};
struct event { struct handle handle; double time; int recorded; };
struct work {
	enum { launches, sets, reads, records } what;
	struct node node;
	char *at, *to;
	int value;
	size_t size;
	struct event *event;
	struct work *next;
};
struct graph { struct handle handle; struct node *nodes; int length; };
struct stream {
	struct handle handle;
	int blocking;
	struct work *first, **last;
	struct graph *capture;
};
/* Copies of the default stream that have not arrived. */
struct copy { char *to, *from; int staged; size_t size; struct copy *next; };
static struct copy *copies, **last_copy = &copies;

/* The clock that events read, in milliseconds; a kernel may change its own share. */
static double now;
double fake_milliseconds;
int64_t fake_fills;

/* Whether a profiler looks. Work that was queued before must not be run meanwhile. */
static int profiling;

static void run(struct node *n) {
	void *parameters[64];
	for (int i = 0; i < n->function->parameters; i++)
		parameters[i] = &n->values[i];
	fake_milliseconds = 0.01;
	ledger->launches++;
	ledger->profiled += profiling;
	int code = n->function->code(parameters, n->grid, n->block);
	now += fake_milliseconds;
	ledger->fills = fake_fills;
	if (code)
		sticky = code;
}

static void finish_copies(void) {
	while (copies) {
		struct copy *c = copies;
		memmove(c->to, c->from, c->size);
		if (c->staged)
			free(c->from);
		copies = c->next;
		free(c);
	}
	last_copy = &copies;
}

static void copy_later(char *to, const char *from, size_t size, int staged) {
	struct copy *c = calloc(1, sizeof *c);
	*c = (struct copy){to, (char *)from, staged, size, NULL};
	if (staged)
		c->from = memcpy(malloc(size), from, size);
	*last_copy = c;
	last_copy = &c->next;
}

static void finish(struct stream *s) {
	if (s->blocking)
		finish_copies();
	while (s->first) {
		struct work *w = s->first;
		if (!sticky) switch (w->what) {
		case launches: run(&w->node); break;
		case sets: memset(w->at, w->value, w->size); break;
		case reads: memcpy(w->to, w->at, w->size); break;
		case records: w->event->time = now; w->event->recorded = 1; break;
		}
		s->first = w->next;
		free(w);
	}
	s->last = &s->first;
}

static void finish_all(void) {
	finish_copies();
	for (struct handle *h = handles; h; h = h->next)
		if (h->kind == a_stream)
			finish((struct stream *)h);
}

static struct work *later(struct stream *s, int what) {
	struct work *w = calloc(1, sizeof *w);
	w->what = what;
	*s->last = w;
	s->last = &w->next;
	return w;
}

/* Contexts. */

int cuDevicePrimaryCtxRetain(void **context, int device) {
	CHECK();
	if (device < 0 || device >= count)
		return invalid_device;
	*context = &visible[device];
	ledger->device = 15 + visible[device];
	ledger->contexts++;
	return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
	CHECK();
	if (--ledger->contexts < 0)
		violate("a context released twice");
	return 0;
}
static int current;
int cuCtxSetCurrent(void *context) { CHECK(); current = context != NULL; return 0; }
#define CURRENT() do { CHECK(); if (!current) return invalid_context; } while (0)
int cuCtxSynchronize(void) { CURRENT(); finish_all(); return sticky; }

int cuMemGetInfo_v2(size_t *unused, size_t *total) {
	CURRENT();
	*total = memory();
	*unused = *total - ledger->bytes;
	return 0;
}
int cuMemAlloc_v2(void **address, size_t size) {
	CURRENT();
	if (size == 0)
		return invalid_value;
	if (ledger->bytes + size > memory())
		return out_of_memory;
	struct block *b = calloc(1, sizeof *b);
	*b = (struct block){aligned_alloc(512, (size + 511) / 512 * 512), size, blocks};
	memset(b->start, 0xcd, size);
	blocks = b;
	*address = b->start;
	ledger->blocks++;
	ledger->allocations++;
	ledger->bytes += size;
	return 0;
}
int cuMemFree_v2(void *address) {
	CURRENT();
	finish_all();
	for (struct block **b = &blocks; *b; b = &(*b)->next)
		if ((*b)->start == address) {
			struct block *dead = *b;
			*b = dead->next;
			ledger->blocks--;
			ledger->bytes -= dead->size;
			free(dead->start);
			free(dead);
			return sticky;
		}
	violate("freed what is not allocated");
	return invalid_value;
}
int cuMemcpyHtoD_v2(char *to, const char *from, size_t size) {
	CURRENT();
	if (!inside(to, size))
		return invalid_value;
	copy_later(to, from, size, 1); /* the bytes are staged, and on their way */
	return 0;
}
int cuMemcpyDtoH_v2(char *to, const char *from, size_t size) {
	CURRENT();
	if (!inside(from, size))
		return invalid_value;
	finish_copies();
	memcpy(to, from, size);
	return 0;
}
int cuMemHostAlloc(void **address, size_t size, unsigned flags) {
	CURRENT();
	if (size == 0 || flags)
		return invalid_value;
	*address = calloc(1, size);
	return 0;
}
int cuMemcpyDtoHAsync_v2(char *to, char *from, size_t size, struct stream *s) {
	CURRENT();
	if (!inside(from, size) || !alive(s, a_stream))
		return invalid_value;
	if (s->capture)
		return capture_illegal;
	struct work *w = later(s, reads);
	w->at = from, w->to = to, w->size = size;
	return 0;
}
int cuMemcpyDtoD_v2(char *to, const char *from, size_t size) {
	CURRENT();
	if (!inside(to, size) || !inside(from, size))
		return invalid_value;
	copy_later(to, from, size, 0);
	return 0;
}
int cuMemcpyDtoDAsync_v2(char *to, char *from, size_t size, struct stream *s) {
	CURRENT();
	if (!inside(to, size) || !inside(from, size) || !alive(s, a_stream))
		return invalid_value;
	if (s->capture)
		return capture_illegal;
	struct work *w = later(s, reads);
	w->at = from, w->to = to, w->size = size;
	return 0;
}
int cuMemsetD8Async(char *at, unsigned char value, size_t size, struct stream *s) {
	CURRENT();
	if (!inside(at, size) || !alive(s, a_stream))
		return invalid_value;
	if (s->capture)
		return capture_illegal;
	struct work *w = later(s, sets);
	w->at = at, w->value = value, w->size = size;
	if (size >= 2 * cache_size)
		ledger->flushes++;
	return 0;
}

/* Modules. */

struct module { struct handle handle; void *library; int file; struct function *functions; };

/* image_of finds the shared object in the ELF file. */
static const char *image_of(const char *file, size_t *size) {
	const Elf64_Ehdr *header = (const void *)file;
	if (memcmp(file, ELFMAG, SELFMAG))
		return NULL;
	const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
	const char *names = file + sections[header->e_shstrndx].sh_offset;
	for (int i = 0; i < header->e_shnum; i++)
		if (!strcmp(names + sections[i].sh_name, ".image")) {
			*size = sections[i].sh_size;
			return file + sections[i].sh_offset;
		}
	return NULL;
}
int cuModuleLoadData(struct module **module, const char *file) {
	CURRENT();
	size_t size;
	const char *image = image_of(file, &size);
	if (!image)
		return invalid_image;
	if (ledger->bytes + size > memory())
		return out_of_memory;
	/* The file stays open as long as the module: the loader knows it by its name. */
	int copy = memfd_create("module", MFD_CLOEXEC);
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
	void *library = NULL;
	if (write(copy, image, size) == (ssize_t)size)
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		close(copy);
		return invalid_image;
	}
	*module = new_handle(a_module, sizeof **module, &ledger->modules);
	(*module)->library = library;
	(*module)->file = copy;
	return 0;
}
int cuModuleUnload(struct module *module) {
	CURRENT();
	if (!alive(module, a_module))
		return invalid_handle;
	finish_all();
	for (struct function *f = module->functions, *next; f; f = next) {
		next = f->sibling;
		drop(f, NULL);
	}
	while (globals) {
		struct block *dead = globals;
		globals = dead->next;
		free(dead);
	}
	dlclose(module->library);
	close(module->file);
	drop(module, &ledger->modules);
	return sticky;
}
static int constant(struct module *module, const char *name, const char *suffix, int otherwise) {
	char symbol[256];
	snprintf(symbol, sizeof symbol, "%s_%s", name, suffix);
	const int *value = dlsym(module->library, symbol);
	return value ? *value : otherwise;
}
int cuModuleGetFunction(struct function **function, struct module *module, const char *name) {
	CURRENT();
	if (!alive(module, a_module))
		return invalid_handle;
	void *code = dlsym(module->library, name);
	if (!code)
		return not_found;
	struct function *f = new_handle(a_function, sizeof *f, NULL);
	f->code = code;
	f->parameters = constant(module, name, "parameters", 0);
	f->widest = constant(module, name, "widest", 8); /* bytes of its largest argument, 16 at most */
	f->registers = constant(module, name, "registers", 24);
	f->shared = shared_default;
	f->sibling = module->functions;
	module->functions = f;
	*function = f;
	return 0;
}

int cuModuleGetGlobal_v2(char **address, size_t *size, struct module *module, const char *name) {
	CURRENT();
	if (!alive(module, a_module))
		return invalid_handle;
	char *start = dlsym(module->library, name);
	Dl_info where;
	const Elf64_Sym *symbol;
	if (!start || !dladdr1(start, &where, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return not_found;
	struct block *b = calloc(1, sizeof *b);
	*b = (struct block){start, symbol->st_size, globals};
	globals = b;
	*address = start;
	*size = symbol->st_size;
	return 0;
}

enum { attribute_local = 3, attribute_registers = 4, attribute_shared = 8 };

int cuFuncSetAttribute(struct function *f, int attribute, int value) {
	CURRENT();
	if (!alive(f, a_function))
		return invalid_handle;
	if (attribute != attribute_shared || value > number("PAWL_FAKE_SHARED", shared_most))
		return invalid_value;
	f->shared = value;
	return 0;
}
int cuFuncGetAttribute(int *value, int attribute, struct function *f) {
	CURRENT();
	if (!alive(f, a_function))
		return invalid_handle;
	switch (attribute) {
	case attribute_local: *value = 0; return 0;
	case attribute_registers: *value = f->registers; return 0;
	case attribute_shared: *value = f->shared; return 0;
	}
	return invalid_value;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *fit, struct function *f, int threads, size_t shared) {
	CURRENT();
	if (!alive(f, a_function) || threads <= 0)
		return invalid_value;
	*fit = 65536 / (f->registers * threads);
	return 0;
}
int cuLaunchKernel(struct function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		unsigned shared, struct stream *s, void **parameters, void **extra) {
	CURRENT();
	if (!alive(f, a_function) || !alive(s, a_stream))
		return invalid_handle;
	unsigned long threads = (unsigned long)bx * by * bz;
	if (!gx || !gy || !gz || gy > 65535 || gz > 65535 || !threads || threads > 1024 || (int)shared > f->shared || extra)
		return invalid_value;
	if (threads * f->registers > registers)
		return out_of_resources;
	struct node n = {f, {gx, gy, gz}, {bx, by, bz}, {0}};
	for (int i = 0; i < f->parameters; i++)
		memcpy(&n.values[i], parameters[i], f->widest);
	if (s->capture) {
		struct graph *g = s->capture;
		g->nodes = realloc(g->nodes, sizeof n * (g->length + 1));
		g->nodes[g->length++] = n;
		return 0;
	}
	later(s, launches)->node = n;
	return 0;
}

/* A tensor map here is what it was made of; a kernel finds the address first. */
struct tensor_map {
	uint64_t base, shape[5], strides[4];
	uint32_t box[5], type, rank, swizzle;
};
int cuTensorMapEncodeTiled(struct tensor_map *map, int type, unsigned rank, void *base, const uint64_t *shape,
		const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
	if ((uintptr_t)map % 64 || (uintptr_t)base % 16 || rank < 1 || rank > 5 || interleave || fill || promotion != 2 || swizzle > 3)
		return invalid_value;
	memset(map, 0, 128);
	map->base = (uint64_t)base, map->type = type, map->rank = rank, map->swizzle = swizzle;
	for (unsigned i = 0; i < rank; i++) {
		if (!shape[i] || !box[i] || box[i] > 256 || steps[i] != 1)
			return invalid_value;
		map->shape[i] = shape[i], map->box[i] = box[i];
		if (i + 1 < rank) {
			if (strides[i] % 16)
				return invalid_value;
			map->strides[i] = strides[i];
		}
	}
	return 0;
}

/* Streams, graphs and events. */

int cuStreamCreate(struct stream **s, unsigned flags) {
	CURRENT();
	*s = new_handle(a_stream, sizeof **s, &ledger->streams);
	(*s)->blocking = flags == 0;
	(*s)->last = &(*s)->first;
	return 0;
}
int cuStreamDestroy_v2(struct stream *s) {
	CURRENT();
	if (!alive(s, a_stream))
		return invalid_handle;
	finish(s);
	drop(s, &ledger->streams);
	return 0;
}
int cuStreamSynchronize(struct stream *s) {
	CURRENT();
	if (!alive(s, a_stream))
		return invalid_handle;
	if (s->capture)
		return capture_illegal;
	finish(s);
	return sticky;
}
int cuStreamBeginCapture_v2(struct stream *s, int mode) {
	CURRENT();
	if (!alive(s, a_stream) || s->capture)
		return invalid_value;
	s->capture = new_handle(a_graph, sizeof *s->capture, &ledger->graphs);
	return 0;
}
int cuStreamEndCapture(struct stream *s, struct graph **g) {
	CURRENT();
	if (!alive(s, a_stream) || !s->capture)
		return invalid_value;
	*g = s->capture;
	s->capture = NULL;
	return 0;
}
static struct graph *copy_of(struct graph *g) {
	struct graph *x = new_handle(an_executable, sizeof *x, &ledger->executables);
	x->length = g->length;
	x->nodes = memcpy(malloc(sizeof *g->nodes * (g->length + 1)), g->nodes, sizeof *g->nodes * g->length);
	return x;
}
#ifndef TOO_OLD
int cuGraphInstantiateWithFlags(struct graph **x, struct graph *g, unsigned long long flags) {
	CURRENT();
	if (!alive(g, a_graph))
		return invalid_handle;
	*x = copy_of(g);
	return 0;
}
#endif
int cuGraphDestroy(struct graph *g) {
	CURRENT();
	if (!alive(g, a_graph))
		return invalid_handle;
	free(g->nodes);
	drop(g, &ledger->graphs);
	return 0;
}
int cuGraphExecDestroy(struct graph *x) {
	CURRENT();
	if (!alive(x, an_executable))
		return invalid_handle;
	free(x->nodes);
	drop(x, &ledger->executables);
	return 0;
}
int cuGraphLaunch(struct graph *x, struct stream *s) {
	CURRENT();
	if (!alive(x, an_executable) || !alive(s, a_stream))
		return invalid_handle;
	ledger->graph_launches++;
	ledger->graph_nodes = x->length;
	ledger->graph_buffers = 0;
	for (int i = 0; i < x->length; i++) {
		if (!alive(x->nodes[i].function, a_function))
			return invalid_handle;
		int seen = 0;
		for (int j = 0; j < i; j++)
			seen |= x->nodes[j].values[0][0] == x->nodes[i].values[0][0];
		ledger->graph_buffers += !seen;
		later(s, launches)->node = x->nodes[i];
	}
	return 0;
}
int cuEventCreate(struct event **e, unsigned flags) {
	CURRENT();
	*e = new_handle(an_event, sizeof **e, &ledger->events);
	return 0;
}
int cuEventDestroy_v2(struct event *e) {
	CURRENT();
	if (!alive(e, an_event))
		return invalid_handle;
	drop(e, &ledger->events);
	return 0;
}
int cuEventRecord(struct event *e, struct stream *s) {
	CURRENT();
	if (!alive(e, an_event) || !alive(s, a_stream))
		return invalid_handle;
	e->recorded = 0;
	later(s, records)->event = e;
	return 0;
}
int cuEventSynchronize(struct event *e) {
	CURRENT();
	if (!alive(e, an_event))
		return invalid_handle;
	for (struct handle *h = handles; h; h = h->next)
		if (h->kind == a_stream)
			finish((struct stream *)h);
	return sticky;
}
int cuEventElapsedTime(float *milliseconds, struct event *earlier, struct event *later) {
	CURRENT();
	if (!alive(earlier, an_event) || !alive(later, an_event))
		return invalid_handle;
	if (!earlier->recorded || !later->recorded)
		return not_ready;
	*milliseconds = later->time - earlier->time;
	return 0;
}
int cuProfilerStart(void) {
	CURRENT();
	if (profiling)
		violate("profiling starts twice");
	profiling = 1;
	return sticky;
}
int cuProfilerStop(void) {
	CURRENT();
	if (!profiling)
		violate("profiling stops before it starts");
	profiling = 0;
	return sticky;
}
