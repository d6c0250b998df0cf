/* Installed agents: see agents.h. */
#include "doctor/agents.h"

#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/process.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[] = { "claude", "codex", "gemini", "opencode" };

/* The version in the package.json of an npm package; the caller frees. NULL: none. */
static char *read_version(const char *path)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(1 << 20);
	AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	char *version = NULL;
	json_t *package;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    fd_read_all(fd, &bytes) < 0)
		return NULL;
	package = json_loadb(bytes.data, bytes.used, 0, NULL);
	if (json_is_string(json_object_get(package, "version")))
		version = mem_dup(json_string_value(json_object_get(package, "version")));
	json_decref(package);
	return version;
}

/* The nearest package.json above a program says which version it is of. */
static char *version_of(const char *program)
{
	AUTO_FREE char *folder = mem_dup(program);
	char *version = NULL;

	for (int up = 0; up < 4 && !version && strrchr(folder, '/') > folder; up++) {
		*strrchr(folder, '/') = '\0';

		AUTO_FREE char *package = path_join(folder, "package.json");

		version = read_version(package);
	}
	return version;
}

void agents_describe(struct buffer *out)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		AUTO_FREE char *found = process_find(names[i]);
		AUTO_FREE char *program = found ? realpath(found, NULL) : NULL;
		AUTO_FREE char *version = program ? version_of(program) : NULL;

		if (program)
			buffer_printf(out, "%s%s%s%s", out->used ? ", " : "", names[i],
				      version ? " " : "", version ? version : "");
	}
}
