// sources: src/config/ignore.c src/config/problem.c
/* An untrusted .ringfenceignore, and its patterns against some paths. */
#include "fuzz.h"

#include "config/ignore.h"

#include <stdlib.h>
#include <string.h>

void fuzz_ignore(const uint8_t *data, size_t size)
{
	static const char *const paths[] = { "a", ".env", "src/main.c", "a/b/c/d/e.log",
					     "x y/[z]" };
	struct ignore ignore = { 0 };
	struct list notices = { 0 };
	struct list problems = { 0 };

	ignore_read(&ignore, ".ringfenceignore", (const char *)data, size, &notices, &problems);
	if (ignore.count > IGNORE_MOST_PATTERNS || problems.count > PROBLEMS_MOST)
		abort();
	for (size_t i = 0; i < ignore.count; i++) {
		const struct glob *glob = &ignore.items[i].glob;

		if (ignore.items[i].text[0] == '!' || !*glob->text)
			abort();
		for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
			if (glob_matches(glob, paths[k], false, &(uint64_t){ UINT64_MAX }) &&
			    glob->folders)
				abort();
	}
	ignore_release(&ignore);
	list_release(&notices);
	list_release(&problems);
}

FUZZ_TARGET(fuzz_ignore)
