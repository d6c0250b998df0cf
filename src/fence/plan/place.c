/* Paths as users write them: see place.h. */
#include "fence/plan/place.h"

#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>

char *place_spelled(const char *home, const char *text, const char *base)
{
	if (text[0] == '~' && (text[1] == '/' || text[1] == '\0') && home[0]) {
		AUTO_FREE char *joined = path_join(home, text[1] ? text + 2 : ".");

		return path_absolute(joined, base);
	}
	return path_absolute(text, base);
}

char *place_resolve(const char *option, const char *path, struct error *err)
{
	char *real = realpath(path, NULL);

	if (!real)
		error_sys(err, "%s '%s'", option, path);
	return real;
}
