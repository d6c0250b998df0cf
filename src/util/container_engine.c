/* Podman and docker: see container_engine.h. */
#include "util/container_engine.h"

#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/process.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *name;
	const char *variable; /* the full path of another program */
	const char *package;  /* Debian's */
} engines[] = {
	[CONTAINER_ENGINE_PODMAN] = { "podman", "RINGFENCE_PODMAN", "podman uidmap" },
	[CONTAINER_ENGINE_DOCKER] = { "docker", "RINGFENCE_DOCKER", "docker.io" },
};
_Static_assert(sizeof engines / sizeof *engines == CONTAINER_ENGINE_COUNT, "one row per engine");

static const char *const passed[] = {
	"HOME",
	"USER",
	"LANG",
	"TMPDIR",
	"XDG_RUNTIME_DIR",
	"XDG_CONFIG_HOME",
	"XDG_DATA_HOME",
	"DBUS_SESSION_BUS_ADDRESS",
	"CONTAINERS_CONF",
	"CONTAINERS_STORAGE_CONF",
	"DOCKER_HOST",
	"DOCKER_CONTEXT",
	"DOCKER_CONFIG",
};

/* Folders of engines below those that their variables name. */
static const struct {
	const char *variable, *folder;
} folders[] = {
	{ "HOME", ".config/containers" },
	{ "HOME", ".local/share/containers" },
	{ "HOME", ".docker" },
	{ "XDG_CONFIG_HOME", "containers" },
	{ "XDG_DATA_HOME", "containers" },
	{ "XDG_RUNTIME_DIR", "containers" },
	{ "XDG_RUNTIME_DIR", "libpod" },
};

static const char system_path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/"
				  "bin:/run/wrappers/bin:/run/current-system/sw/bin";

const char *container_engine_name(enum container_engine_kind kind)
{
	return engines[kind].name;
}

enum container_engine_kind container_engine_named(const char *name)
{
	enum container_engine_kind kind = 0;

	while (kind < CONTAINER_ENGINE_COUNT && strcmp(engines[kind].name, name) != 0)
		kind++;
	return kind;
}

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static void make_environment(struct list *environment)
{
	list_add(environment, system_path);
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
		if (env_has(passed[i]))
			list_printf(environment, "%s=%s", passed[i], env_get(passed[i]));
}

int container_engine_find(enum container_engine_kind kind, struct container_engine *ret_engine,
			  struct error *err)
{
	const char *name = engines[kind].name;
	char *program = process_find_system(name, engines[kind].variable);

	if (!program || !is_program(program)) {
		error_format(err, ERROR_NOT_FOUND,
			     "%s is not installed%s%s: run 'sudo apt install %s', or set %s", name,
			     program ? " at " : "", program ? program : "", engines[kind].package,
			     engines[kind].variable);
		free(program);
		return -1;
	}
	*ret_engine = (struct container_engine){ .kind = kind, .program = program };
	make_environment(&ret_engine->environment);
	return 0;
}

void container_engine_release(struct container_engine *engine)
{
	free(engine->program);
	list_release(&engine->environment);
	*engine = (struct container_engine){ 0 };
}

static int refuse(const struct container_engine *engine, const char *what, const struct error *why,
		  struct error *err)
{
	return error_with(err, ERROR_REFUSED, "%s cannot be used, because of %s: %s",
			  engines[engine->kind].name, what, why->text);
}

static int check_folders(const struct taint *taint, struct error *err)
{
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		const char *above = env_get(folders[i].variable);
		AUTO_FREE char *path = path_join(above ? above : "/", folders[i].folder);

		if (above && taint_check_word(taint, path, err) < 0)
			return -1;
	}
	return 0;
}

int container_engine_check(const struct container_engine *engine, const struct taint *taint,
			   struct error *err)
{
	struct error why;

	if (taint_check_word(taint, engine->program, &why) < 0)
		return refuse(engine, "its program", &why, err);
	for (size_t i = 0; i < engine->environment.count; i++)
		if (taint_check_word(taint, engine->environment.items[i], &why) < 0)
			return refuse(engine, "its environment", &why, err);
	return check_folders(taint, &why) < 0 ? refuse(engine, "its own folders", &why, err) : 0;
}

int container_engine_check_image(const char *name, struct error *err)
{
	enum { LONGEST = 512 };
	size_t size = strlen(name);

	for (size_t i = 0; i < size && size <= LONGEST; i++)
		if (!isalnum((unsigned char)name[i]) && (i == 0 || !strchr("._-/:@", name[i])))
			size = 0;
	if (size == 0 || size > LONGEST)
		return error_with(err, ERROR_INVALID,
				  "'%.200s' is not the name of an image: it must begin with a "
				  "letter or a digit, and may have letters, digits and ._-/:@",
				  name);
	return 0;
}
