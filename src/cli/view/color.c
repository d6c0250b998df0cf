/* Colours: see color.h. */
#include "cli/view/color.h"

#include "util/env.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool color_wanted(void)
{
	const char *terminal = env_get("TERM");

	if (env_has("NO_COLOR"))
		return false;
	return env_has("FORCE_COLOR") ||
	       (isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0);
}

const char *color_on(enum color paint)
{
	static const char *const codes[] = { [COLOR_PLAIN] = "",
					     [COLOR_BOLD] = "\033[1m",
					     [COLOR_DIM] = "\033[2m",
					     [COLOR_RED] = "\033[31m",
					     [COLOR_GREEN] = "\033[32m" };

	return color_wanted() ? codes[paint] : "";
}

const char *color_off(enum color paint)
{
	return paint != COLOR_PLAIN && color_wanted() ? "\033[m" : "";
}
