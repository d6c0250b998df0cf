/* Refusals before a loop: see preflight.h. */
#include "settings/preflight.h"

#include "settings/hint.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/shell.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_set(const struct config *config, enum setting_id id)
{
	for (size_t i = 0; i < config->count; i++)
		if (config->values[i].setting->id == id &&
		    config->values[i].state == CONFIG_ACTIVE &&
		    config->values[i].layer != CONFIG_BUILT_IN)
			return true;
	return false;
}

int preflight_inactive(const struct config *config, enum setting_id id, enum setting_id instead,
		       struct error *err)
{
	if (is_set(config, id) || is_set(config, instead))
		return 0;
	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];

		if (value->setting->id == id && value->state == CONFIG_INACTIVE) {
			return error_set(
				err,
				"%s '%.300s' (%s) is inactive: run ringfence trust, or set --%s",
				value->setting->key, value->text, value->origin,
				value->setting->key);
		}
	}
	return 0;
}

int preflight_missing(const char *project, const char *tasks, struct error *err)
{
	AUTO_FREE char *path = path_join(project, tasks);
	struct stat status;

	if (stat(path, &status) < 0)
		return error_set(
			err,
			"--tasks '%.300s': there is no such file in the project; create it, with a line '- [ ] ...' for each task",
			tasks);
	return S_ISREG(status.st_mode)
		       ? 0
		       : error_set(err, "--tasks '%.300s' is not a regular file", tasks);
}

int preflight_unwritable(const struct fence_spec *spec, const char *project, struct error *err)
{
	if (spec->read_only || spec->write.count || access(project, W_OK) == 0)
		return 0;

	int number = errno;
	AUTO_FREE char *quoted = shell_quoted(project);

	errno = number;
	return error_sys(
		err,
		"you cannot write to '%.500s' (work on a copy of your own: cp -r %.500s NEW, or --read-only for a loop that only reads)",
		project, quoted);
}

int preflight_hidden(const struct fence_plan *plan, const char *what, const char *line,
		     struct error *err)
{
	AUTO_FREE char *program = shell_program(line, plan->home);
	AUTO_FREE char *read = NULL;
	AUTO_FREE char *path = program ? hint_hidden(plan, program, &read) : NULL;

	return path ? error_set(
			      err,
			      "%s would not be found in the fence: %s is hidden there (--read %s)",
			      what, path, read)
		    : 0;
}
