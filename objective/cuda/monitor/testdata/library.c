/*
 * A management library with one GPU, for tests. It is compiled as a recent
 * driver, as an old one (OLD), as one that has dropped deprecated calls (NEW),
 * and as one that fails to initialise (REFUSE).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { int unused; } *device;

struct memory { unsigned long long total, free, used; };
struct process {
	unsigned int process;
	unsigned long long memory;
	unsigned int instance, compute_instance;
};
struct celsius { unsigned int version; int sensor; int celsius; };

enum { success = 0, invalid = 2, unsupported = 3, not_found = 6, too_small = 7, not_loaded = 9 };
enum { processes = 40 };

static struct { int unused; } gpu;
static unsigned int locked;
static int users;

static int text(char *to, unsigned int room, const char *from) {
	return snprintf(to, room, "%s", from) < (int)room ? success : too_small;
}

int nvmlInit_v2(void) {
#ifdef REFUSE
	return not_loaded;
#endif
	users++;
	return success;
}
int nvmlShutdown(void) { return --users < 0 ? invalid : success; }
int nvmlSystemGetDriverVersion(char *to, unsigned int room) { return text(to, room, "580.65.06"); }
int nvmlSystemGetCudaDriverVersion(int *version) { *version = 13010; return success; }
int nvmlDeviceGetCount_v2(unsigned int *count) { *count = 2; return success; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, device *found) {
	if (index != 0)
		return 15;
	*found = (device)&gpu;
	return success;
}
int nvmlDeviceGetHandleByUUID(const char *uuid, device *found) {
	if (strcmp(uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"))
		return not_found;
	*found = (device)&gpu;
	return success;
}
int nvmlDeviceGetName(device one, char *to, unsigned int room) {
	return one == (device)&gpu ? text(to, room, "Test GPU") : invalid;
}
int nvmlDeviceGetUUID(device one, char *to, unsigned int room) {
	return one == (device)&gpu ? text(to, room, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f") : invalid;
}
int nvmlDeviceGetMemoryInfo(device one, struct memory *memory) {
	*memory = (struct memory){150ull << 30, 149ull << 30, 1ull << 30};
	return success;
}
int nvmlDeviceGetClockInfo(device one, int domain, unsigned int *mhz) {
	const char *path = getenv("PAWL_FAKE_CLOCK"); /* a file with the clock that there is without a lock */
	FILE *file = path ? fopen(path, "r") : NULL;
	unsigned int clock = 1980;
	if (file) {
		fscanf(file, "%u", &clock);
		fclose(file);
	}
	*mhz = domain == 1 ? (locked ? locked : clock) : domain == 2 ? 3201 : 0;
	return success;
}
int nvmlDeviceGetMaxClockInfo(device one, int domain, unsigned int *mhz) {
	*mhz = domain == 1 ? 1995 : domain == 2 ? 3202 : 0;
	return success;
}
int nvmlDeviceGetTotalEnergyConsumption(device one, unsigned long long *millijoules) { *millijoules = 5000000000000ull; return success; }
int nvmlDeviceGetPowerUsage(device one, unsigned int *milliwatts) { *milliwatts = 123456; return success; }
int nvmlDeviceGetEnforcedPowerLimit(device one, unsigned int *milliwatts) { *milliwatts = 700000; return success; }

#ifndef NEW
int nvmlDeviceGetTemperature(device one, int sensor, unsigned int *celsius) {
	*celsius = sensor == 0 ? 41 : 0;
	return success;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(device one, unsigned long long *reasons) {
	*reasons = 0x8000000000000004ull;
	return success;
}
#endif

#ifndef OLD
int nvmlDeviceGetTemperatureV(device one, struct celsius *celsius) {
	if (celsius->version != (sizeof *celsius | 1 << 24))
		return 25;
	celsius->celsius = 42;
	return success;
}
int nvmlDeviceGetCurrentClocksEventReasons(device one, unsigned long long *reasons) {
	*reasons = 0x8000000000000001ull;
	return success;
}
int nvmlDeviceGetComputeRunningProcesses_v3(device one, unsigned int *count, struct process *list) {
	unsigned int room = *count;
	const char *other = getenv("PAWL_FAKE_OTHER"); /* the number of another process */
	if (other) {
		*count = 2;
		if (room < 2)
			return too_small;
		list[0] = (struct process){getpid(), 1ull << 30, ~0u, ~0u};
		list[1] = (struct process){atoi(other), 3ull << 30, ~0u, ~0u};
		return success;
	}
	*count = processes;
	if (room < processes)
		return too_small;
	for (unsigned int i = 0; i < processes; i++)
		list[i] = (struct process){1000 + i, 1ull << 32, ~0u, ~0u};
	return success;
}
struct busy { unsigned int process; unsigned long long time; unsigned int multiprocessor, memory, enc, dec; };
int nvmlDeviceGetProcessUtilization(device one, struct busy *list, unsigned int *count, unsigned long long since) {
	unsigned int room = *count;
	const char *other = getenv("PAWL_FAKE_OTHER");
	if (!other)
		return not_found;
	*count = 2;
	if (!list || room < 2)
		return too_small;
	list[0] = (struct busy){getpid(), since + 1, 20};
	list[1] = (struct busy){atoi(other), since + 1, atoi(getenv("PAWL_FAKE_BUSY"))};
	return success;
}
int nvmlDeviceSetGpuLockedClocks(device one, unsigned int low, unsigned int high) {
	if (low != high)
		return invalid;
	locked = low;
	return success;
}
int nvmlDeviceResetGpuLockedClocks(device one) { locked = 0; return success; }
#endif
