// sources: src/image/devcontainer.c src/util/container_engine.c -ljansson
/* A devcontainer.json: what is read from it stays in the project, and is not an option of an
 * engine. */
#include "fuzz.h"
#include "image/devcontainer.h"

#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static void check_path(const char *path)
{
	AUTO_FREE char *whole = path_absolute(path, "/project");

	if (path[0] == '/' || !path_within(whole, "/project"))
		abort();
}

void fuzz_devcontainer(const uint8_t *data, size_t size)
{
	struct devcontainer found;
	struct error err;

	if (devcontainer_read((const char *)data, size, ".devcontainer", &found, &err) < 0)
		return;
	if (!found.image == !found.containerfile || (found.image && found.image[0] == '-') ||
	    (found.target && found.target[0] == '-'))
		abort();
	if (found.containerfile) {
		check_path(found.containerfile);
		check_path(found.context);
	}
	for (size_t i = 0; i < found.arguments.count; i++)
		if (!strchr(found.arguments.items[i], '=') || found.arguments.items[i][0] == '-')
			abort();
	devcontainer_release(&found);
}

FUZZ_TARGET(fuzz_devcontainer)
