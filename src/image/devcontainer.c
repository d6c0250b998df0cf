/* Reading a devcontainer.json: see devcontainer.h. */
#include "image/devcontainer.h"

#include "util/buffer.h"
#include "util/container_engine.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON with comments ---- */

/* Returns the end of the comment or string that begins here, or `at` if none does. */
static const char *skip_comment(const char *at, const char *end)
{
	const char *close = NULL;

	if (end - at < 2 || at[0] != '/')
		return at;
	if (at[1] == '/')
		close = memchr(at, '\n', (size_t)(end - at));
	else if (at[1] == '*')
		close = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);
	else
		return at;
	return !close ? end : at[1] == '/' ? close : close + 2;
}

static const char *skip_string(const char *at, const char *end)
{
	if (*at != '"')
		return at;
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\' && at + 1 < end;
	return at < end ? at + 1 : end;
}

/* Is the next character, after space and comments, a closing bracket? */
static bool closes(const char *at, const char *end)
{
	const char *from = NULL;

	while (at < end && from != at) {
		from = at;
		while (at < end && strchr(" \t\r\n", *at) && *at)
			at++;
		at = at < end ? skip_comment(at, end) : at;
	}
	return at < end && (*at == '}' || *at == ']');
}

/* Copies the text without comments, and without commas before a closing bracket. */
static void copy_plain(const char *at, const char *end, struct buffer *plain)
{
	while (at < end) {
		const char *next = skip_comment(at, end);

		if (next != at) {
			buffer_add_text(plain, " ");
		} else if ((next = skip_string(at, end)) != at) {
			buffer_add(plain, at, (size_t)(next - at));
		} else {
			next = at + 1;
			buffer_add(plain, *at == ',' && closes(next, end) ? " " : at, 1);
		}
		at = next;
	}
}

static json_t *load(const char *bytes, size_t size, struct error *err)
{
	AUTO_BUFFER struct buffer plain = BUFFER_INIT(DEVCONTAINER_BYTES_MAX);
	json_error_t wrong;
	json_t *json;

	copy_plain(bytes, bytes + size, &plain);
	if (size > DEVCONTAINER_BYTES_MAX || buffer_overflowed(&plain)) {
		error_format(err, ERROR_INVALID, "it has more than %d KiB",
			     DEVCONTAINER_BYTES_MAX >> 10);
		return NULL;
	}
	json = json_loadb(plain.data ? plain.data : "", plain.used, 0, &wrong);
	if (!json || !json_is_object(json)) {
		error_format(err, ERROR_INVALID, "it is not a JSON object: %s",
			     json ? "it is another value" : wrong.text);
		json_decref(json);
		return NULL;
	}
	return json;
}

/* ---- what it asks for ---- */

/* Options of an engine that would weaken a container, or show it parts of the host. */
static const char *const refused_options[] = {
	"--privileged", "--cap-add",       "--security-opt", "--device",  "--mount",    "--volume",
	"-v",           "--volumes-from",  "--pid",          "--ipc",     "--uts",      "--userns",
	"--cgroupns",   "--cgroup-parent", "--group-add",    "--gpus",    "--net",      "--network",
	"--sysctl",     "--add-host",      "--runtime",      "--rootfs",  "--env-file", "--secret",
	"--ssh",        "--tmpfs",         "--pidfile",      "--cidfile",
};

/* Everything else that is known, and why it has no effect. */
static const struct {
	const char *key, *why;
} ignored_keys[] = {
	{ "features", "not installed; add their tools to a Containerfile" },
	{ "overrideFeatureInstallOrder", "no feature is installed" },
	{ "containerEnv", "no variable of an image is set; use the setting env" },
	{ "remoteEnv", "no variable is set; use the setting env" },
	{ "containerUser", "the fence has a user of its own" },
	{ "remoteUser", "the fence has a user of its own" },
	{ "updateRemoteUserUID", "the fence has a user of its own" },
	{ "workspaceFolder", "the project stays where it is" },
	{ "workspaceMount", "the project stays where it is" },
	{ "initializeCommand", "not run" },
	{ "onCreateCommand", "not run" },
	{ "updateContentCommand", "not run" },
	{ "postCreateCommand", "not run" },
	{ "postStartCommand", "not run" },
	{ "postAttachCommand", "not run" },
	{ "waitFor", "no command is run" },
	{ "forwardPorts", "no port is forwarded; use the setting listen" },
	{ "appPort", "no port is forwarded; use the setting listen" },
	{ "portsAttributes", "no port is forwarded" },
	{ "otherPortsAttributes", "no port is forwarded" },
	{ "overrideCommand", "the image's command is not run" },
	{ "init", "ringfence-init is process 1" },
	{ "runArgs", "no option is passed to the engine" },
	{ "hostRequirements", "not checked" },
	{ "secrets", "not asked for" },
	{ "shutdownAction", "a container ends with its command" },
	{ "userEnvProbe", "no shell is asked for variables" },
	{ "customizations", "for editors" },
};

/* Keys that are honoured, or were checked. */
static const char *const known_keys[] = { "name",    "$schema",    "image",      "build",
					  "context", "dockerFile", "privileged", "capAdd",
					  "mounts",  "securityOpt" };

static bool is_known(const char *key)
{
	for (size_t i = 0; i < sizeof known_keys / sizeof *known_keys; i++)
		if (strcmp(known_keys[i], key) == 0)
			return true;
	return false;
}

static const char *why_ignored(const char *key)
{
	for (size_t i = 0; i < sizeof ignored_keys / sizeof *ignored_keys; i++)
		if (strcmp(ignored_keys[i].key, key) == 0)
			return ignored_keys[i].why;
	return "not known to Ringfence";
}

static void list_ignored(const json_t *json, struct list *ignored)
{
	enum { MOST = 100 };
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)json, key, value)
	{
		AUTO_FREE char *shown = text_escaped(key);

		if (!is_known(key) && ignored->count < MOST)
			list_printf(ignored, "%.100s: %s", shown, why_ignored(key));
	}
}

/* Adds a line for a list that is not empty, or anything that is not a list. */
static void refuse_list(const json_t *json, const char *key, struct buffer *refused)
{
	const json_t *value = json_object_get(json, key);

	if (value && !json_is_null(value) && !(json_is_array(value) && !json_array_size(value)))
		buffer_printf(refused, "%s%s", refused->used ? ", " : "", key);
}

static bool is_refused_option(const char *word)
{
	size_t size = strcspn(word, "= ");

	for (size_t i = 0; i < sizeof refused_options / sizeof *refused_options; i++) {
		const char *option = refused_options[i];

		if (strlen(option) == size && strncmp(option, word, size) == 0)
			return true;
	}
	return word[0] == '-' && word[1] == 'v'; /* -v/a:/b */
}

static void refuse_options(const json_t *words, const char *key, struct buffer *refused)
{
	size_t index;
	json_t *word;

	json_array_foreach((json_t *)words, index, word)
	{
		const char *text = json_string_value(word);

		if (text && is_refused_option(text)) {
			AUTO_FREE char *shown = text_escaped(text);

			buffer_printf(refused, "%s%s %.100s", refused->used ? ", " : "", key,
				      shown);
		}
	}
}

static int refuse_privileges(const json_t *json, struct error *err)
{
	AUTO_BUFFER struct buffer refused = BUFFER_INIT(1 << 20);
	const json_t *build = json_object_get(json, "build");

	if (json_object_get(json, "privileged") &&
	    !json_is_false(json_object_get(json, "privileged")))
		buffer_add_text(&refused, "privileged");
	refuse_list(json, "capAdd", &refused);
	refuse_list(json, "securityOpt", &refused);
	refuse_list(json, "mounts", &refused);
	refuse_options(json_object_get(json, "runArgs"), "runArgs", &refused);
	refuse_options(json_object_get(build, "options"), "build.options", &refused);
	if (json_object_get(json, "dockerComposeFile"))
		buffer_printf(&refused, "%sdockerComposeFile", refused.used ? ", " : "");
	if (!refused.used)
		return 0;
	return error_with(
		err, ERROR_REFUSED,
		"it asks for what a fence does not give (%.1000s): remove that, or name a "
		"Containerfile of your own with --file",
		buffer_text(&refused));
}

/* ---- the image ---- */

/* Reads a text. Returns 0 with NULL if it is missing, or -1 with err set. */
static int read_text(const json_t *json, const char *key, char **ret_text, struct error *err)
{
	const json_t *value = json_object_get(json, key);
	const char *text = json_string_value(value);

	if (!value)
		return 0;
	if (!text || !*text || strlen(text) > 4000)
		return error_with(err, ERROR_INVALID, "%s must be a text", key);
	if (strstr(text, "${"))
		return error_with(err, ERROR_INVALID, "%s has a variable, which is not expanded",
				  key);
	*ret_text = mem_dup(text);
	return 0;
}

/* Turns a path relative to the file's folder into one below the project. */
static int place(const char *folder, const char *key, char **path, struct error *err)
{
	AUTO_FREE char *base = mem_format("/p%s%s", folder[0] ? "/" : "", folder);
	AUTO_FREE char *whole = path_absolute(*path, base);

	if ((*path)[0] == '/' || !path_within(whole, "/p"))
		return error_with(err, ERROR_REFUSED, "%s leads out of the project", key);
	free(*path);
	*path = mem_dup(whole[2] ? whole + 3 : "");
	return 0;
}

static int read_arguments(const json_t *build, struct devcontainer *devcontainer, struct error *err)
{
	const json_t *arguments = json_object_get(build, "args");
	const char *name;
	json_t *value;

	if (arguments && (!json_is_object(arguments) || json_object_size(arguments) > 100))
		return error_with(err, ERROR_INVALID, "build.args must be an object of texts");
	json_object_foreach((json_t *)arguments, name, value)
	{
		AUTO_FREE char *text = NULL;

		if (!name[0] || strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
					     "0123456789") != strlen(name))
			return error_with(err, ERROR_INVALID, "build.args has an invalid name");
		if (read_text(arguments, name, &text, err) < 0)
			return -1;
		list_printf(&devcontainer->arguments, "%s=%s", name, text);
	}
	return 0;
}

static int read_build(const json_t *json, const char *folder, struct devcontainer *devcontainer,
		      struct error *err)
{
	const json_t *build = json_object_get(json, "build");

	if (build && !json_is_object(build))
		return error_with(err, ERROR_INVALID, "build must be an object");
	if (read_text(build, "dockerfile", &devcontainer->containerfile, err) < 0 ||
	    read_text(build, "context", &devcontainer->context, err) < 0 ||
	    read_text(build, "target", &devcontainer->target, err) < 0 ||
	    (!devcontainer->containerfile &&
	     read_text(json, "dockerFile", &devcontainer->containerfile, err) < 0) ||
	    (!devcontainer->context && read_text(json, "context", &devcontainer->context, err) < 0))
		return -1;
	if (!devcontainer->context)
		devcontainer->context = mem_dup(".");
	if (!devcontainer->containerfile)
		return 0;
	if (place(folder, "build.dockerfile", &devcontainer->containerfile, err) < 0 ||
	    place(folder, "build.context", &devcontainer->context, err) < 0)
		return -1;
	return read_arguments(build, devcontainer, err);
}

static int check(struct devcontainer *devcontainer, struct error *err)
{
	if (!devcontainer->image && !devcontainer->containerfile)
		return error_with(err, ERROR_INVALID,
				  "it names neither an image nor a Containerfile");
	if (devcontainer->image && devcontainer->containerfile)
		return error_with(err, ERROR_INVALID, "it names both an image and a Containerfile");
	if (devcontainer->target && devcontainer->target[0] == '-')
		return error_with(err, ERROR_INVALID, "build.target is not the name of a stage");
	return devcontainer->image ? container_engine_check_image(devcontainer->image, err) : 0;
}

int devcontainer_read(const char *bytes, size_t size, const char *folder,
		      struct devcontainer *ret_devcontainer, struct error *err)
{
	struct devcontainer devcontainer = { 0 };
	json_t *json = load(bytes, size, err);
	int result = -1;

	if (json && refuse_privileges(json, err) == 0 &&
	    read_text(json, "image", &devcontainer.image, err) == 0 &&
	    read_build(json, folder, &devcontainer, err) == 0)
		result = check(&devcontainer, err);
	if (result == 0)
		list_ignored(json, &devcontainer.ignored);
	else
		devcontainer_release(&devcontainer);
	json_decref(json);
	if (result == 0)
		*ret_devcontainer = devcontainer;
	return result;
}

void devcontainer_release(struct devcontainer *devcontainer)
{
	free(devcontainer->image);
	free(devcontainer->containerfile);
	free(devcontainer->context);
	free(devcontainer->target);
	list_release(&devcontainer->arguments);
	list_release(&devcontainer->ignored);
	*devcontainer = (struct devcontainer){ 0 };
}
