/* Finds agents on this machine without starting them: see adapter.h. */
#include "agent/adapter.h"

#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/text/jsonget.h"

#include <ctype.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKAGE_BYTES = 1 << 20, PACKAGE_ABOVE = 4 };

/* Returns the version in an npm package.json, or NULL; the caller frees. */
static char *read_version(const char *path)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(PACKAGE_BYTES);
	AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	char *version = NULL;
	json_t *package;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    fd_read_all(fd, &bytes) < 0)
		return NULL;
	package = json_loadb(bytes.data, bytes.used, 0, NULL);
	if (jsonget_string(package, "version"))
		version = mem_dup(jsonget_string(package, "version"));
	json_decref(package);
	return version;
}

static bool is_version(const char *name)
{
	return isdigit((unsigned char)*name) && strchr(name, '.') &&
	       strspn(name, "0123456789.") == strlen(name);
}

/*
 * The nearest package.json above a program holds its version; a standalone binary may be named
 * after its version.
 */
static char *version_of(const char *program)
{
	AUTO_FREE char *folder = mem_dup(program);
	char *version = is_version(path_name(program)) ? mem_dup(path_name(program)) : NULL;

	for (int up = 0; up < PACKAGE_ABOVE && !version && strrchr(folder, '/') > folder; up++) {
		*strrchr(folder, '/') = '\0';

		AUTO_FREE char *package = path_join(folder, "package.json");

		version = read_version(package);
	}
	return version;
}

static bool is_system(const char *path)
{
	static const char *const places[] = { "/usr", "/bin", "/opt", "/nix/store", NULL };

	for (const char *const *at = places; *at; at++)
		if (path_within(path, *at))
			return true;
	return false;
}

/*
 * Returns the path that a program needs to run: the outermost node_modules for an npm package, the
 * whole environment for Python, otherwise the program alone.
 */
static char *folder_of(const char *program)
{
	AUTO_FREE char *path = mem_dup(program);
	char *modules = strstr(path, "/node_modules/");

	if (is_system(program))
		return NULL;
	if (modules) {
		modules[strlen("/node_modules")] = '\0';
		return mem_dup(path);
	}
	for (int up = 0; up < 2 && strrchr(path, '/') > path; up++)
		*strrchr(path, '/') = '\0';

	AUTO_FREE char *environment = path_join(path, "pyvenv.cfg");

	return access(environment, F_OK) == 0 ? mem_dup(path) : mem_dup(program);
}

int adapter_version_compare(const char *a, const char *b)
{
	while (*a || *b) {
		char *a_end;
		char *b_end;
		unsigned long left = strtoul(a, &a_end, 10);
		unsigned long right = strtoul(b, &b_end, 10);

		if (left != right)
			return left < right ? -1 : 1;
		if ((a_end == a && *a) || (b_end == b && *b))
			return 0; /* not numeric: no order */
		a = a_end + (*a_end == '.');
		b = b_end + (*b_end == '.');
	}
	return 0;
}

static bool is_tested(const struct adapter *adapter, const char *version)
{
	if (adapter->own)
		return true;
	return version && adapter->tested_from &&
	       adapter_version_compare(version, adapter->tested_from) >= 0 &&
	       adapter_version_compare(version, adapter->tested_below) < 0;
}

/* Returns the program's path, or NULL; the caller frees. */
static char *find_program(const struct adapter *adapter)
{
	struct error why;
	char *path = NULL;

	if (!adapter->program)
		return NULL;
	if (!adapter->own)
		return process_find(adapter->program);
	return process_beside(adapter->program, &path, &why) == 0 ? path : NULL;
}

void adapter_look(const struct adapter *adapter, const char *home, struct adapter_found *ret_found)
{
	AUTO_FREE char *found = find_program(adapter);
	AUTO_FREE char *file = adapter->credentials && *home ? path_join(home, adapter->credentials)
							     : NULL;

	*ret_found = (struct adapter_found){ .program = found ? realpath(found, NULL) : NULL };
	if (ret_found->program) {
		ret_found->version = adapter->own ? mem_dup(RINGFENCE_VERSION)
						  : version_of(ret_found->program);
		ret_found->folder = folder_of(ret_found->program);
	}
	ret_found->tested = is_tested(adapter, ret_found->version);
	for (const char *const *key = adapter->keys; key && *key && !ret_found->key; key++)
		if (env_has(*key))
			ret_found->key = *key;
	if (file && access(file, R_OK) == 0)
		ret_found->credentials = mem_dup(file);
}

void adapter_found_release(struct adapter_found *found)
{
	free(found->program);
	free(found->folder);
	free(found->version);
	free(found->credentials);
	*found = (struct adapter_found){ 0 };
}
