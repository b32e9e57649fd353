/* The name of this processor, as the tables of pawl dispatch have it; empty where nobody knows. */
#include <stdio.h>
#include <string.h>

static int field(const char *name, char *value, size_t size) {
	char line[1024];
	int found = 0;
	FILE *file = fopen("/proc/cpuinfo", "r");
	while (file && !found && fgets(line, sizeof line, file)) {
		char *text = strchr(line, ':');
		size_t length = strlen(name);
		if (!text || strncmp(line, name, length) || !strchr("\t :", line[length]))
			continue;
		text += strspn(text, ": \t");
		text[strcspn(text, "\n")] = 0;
		snprintf(value, size, "%s", text);
		found = 1;
	}
	if (file)
		fclose(file);
	return found;
}

const char *device_name(void) {
	static char name[1024]; /* call it once before threads are started */
	char implementer[64], part[64];
	if (name[0] || field("model name", name, sizeof name))
		return name;
	if (field("CPU implementer", implementer, sizeof implementer) && field("CPU part", part, sizeof part))
		snprintf(name, sizeof name, "arm64 %s %s", implementer, part);
	return name;
}
