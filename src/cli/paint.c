/* Colours: see paint.h. */
#include "cli/paint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

bool paint_wanted(void)
{
	const char *terminal = getenv("TERM");

	if (is_set("NO_COLOR"))
		return false;
	return is_set("FORCE_COLOR") ||
	       (isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0);
}

const char *paint_on(enum paint paint)
{
	static const char *const codes[] = { [PAINT_PLAIN] = "",
					     [PAINT_BOLD] = "\033[1m",
					     [PAINT_DIM] = "\033[2m",
					     [PAINT_RED] = "\033[31m",
					     [PAINT_GREEN] = "\033[32m" };

	return paint_wanted() ? codes[paint] : "";
}

const char *paint_off(enum paint paint)
{
	return paint != PAINT_PLAIN && paint_wanted() ? "\033[m" : "";
}
