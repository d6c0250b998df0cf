/* Names and values of limits: see fence_limit.h. */
#include "fence/fence_limit.h"

#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <string.h>

enum kind { BYTES, THOUSANDTHS, NUMBER, TIME };

static const struct {
	const char *name;
	uint64_t least; /* no command could start with less */
	enum kind kind;
} table[FENCE_LIMIT_COUNT] = {
	[FENCE_LIMIT_MEMORY] = { "memory", 8 << 20, BYTES },
	[FENCE_LIMIT_CPUS] = { "cpus", 10, THOUSANDTHS },
	[FENCE_LIMIT_PROCESSES] = { "processes", 1, NUMBER },
	[FENCE_LIMIT_OPEN_FILES] = { "open-files", 16, NUMBER },
	[FENCE_LIMIT_FILE_SIZE] = { "file-size", 1, BYTES },
	[FENCE_LIMIT_TMP_SIZE] = { "tmp-size", 65536, BYTES },
	[FENCE_LIMIT_DISK] = { "disk", 1, BYTES },
	[FENCE_LIMIT_TIME] = { "time", 1, TIME },
};

const char *fence_limit_name(enum fence_limit limit)
{
	return table[limit].name;
}

enum fence_limit fence_limit_find(const char *name)
{
	int i = 0;

	while (i < FENCE_LIMIT_COUNT && strcmp(table[i].name, name) != 0)
		i++;
	return (enum fence_limit)i;
}

const char *fence_how_name(enum fence_how how)
{
	static const char *const names[] = {
		[FENCE_HOW_NONE] = "none",           [FENCE_HOW_CGROUP_V2] = "cgroup v2",
		[FENCE_HOW_CGROUP_V1] = "cgroup v1", [FENCE_HOW_RLIMIT] = "rlimit",
		[FENCE_HOW_TMPFS] = "tmpfs",         [FENCE_HOW_AFFINITY] = "affinity",
		[FENCE_HOW_WATCHED] = "watched",     [FENCE_HOW_TIMER] = "timer",
	};

	return names[how];
}

int fence_limit_parse(enum fence_limit limit, const char *text, uint64_t *ret_value,
		      struct error *err)
{
	static const struct {
		int (*read)(const char *text, uint64_t *ret_value);
		const char *wants;
	} readers[] = {
		[BYTES] = { text_bytes, "a size such as 64M or 4G (a bare number is bytes)" },
		[THOUSANDTHS] = { text_thousandths, "a number such as 2 or 0.5" },
		[NUMBER] = { text_count, "a number such as 64" },
		[TIME] = { text_duration_ms,
			   "a time such as 30s, 10m, 2h or 1h30m (a bare number is minutes)" },
	};
	enum kind kind = table[limit].kind;
	uint64_t value;

	if (readers[kind].read(text, &value) < 0)
		return error_set(err, "%s must be %s, not '%s'", table[limit].name,
				 readers[kind].wants, text);
	if (value < table[limit].least) {
		AUTO_FREE char *least = fence_limit_text(limit, table[limit].least);

		return error_set(err, "%s must be at least %s: no command can start with %s",
				 table[limit].name, least, text);
	}
	*ret_value = value;
	return 0;
}

char *fence_limit_text(enum fence_limit limit, uint64_t value)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(100);

	switch (table[limit].kind) {
	case BYTES:
		text_add_bytes(&text, value);
		break;
	case TIME:
		text_add_duration(&text, value);
		break;
	case THOUSANDTHS:
		buffer_printf(&text, "%g", (double)value / 1000);
		break;
	case NUMBER:
		buffer_printf(&text, "%llu", (unsigned long long)value);
		break;
	}
	return mem_dup(buffer_text(&text));
}
