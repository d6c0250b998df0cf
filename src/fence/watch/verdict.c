/* Verdicts from text: see verdict.h. */
#include "fence/watch/verdict.h"

#include "fence/plan/defaults.h"
#include "fence/plan/names.h"
#include "fence/plan/ruleset.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char built_in[] = "built-in";

static bool within_any(const char *path, const char *const *places, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (path_within(path, places[i]))
			return true;
	return false;
}

/* The fence's own writable place that contains a path, or NULL. */
static const char *private_place(const struct fence_plan *plan, const char *path,
				 const char **ret_name)
{
	const struct {
		const char *path, *name;
	} places[] = { { plan->tmp ? plan->tmp : "/tmp", "private /tmp" },
		       { plan->own ? NULL : "/dev/shm", "private /dev/shm" },
		       { plan->home, "private home" } };
	const char *found = NULL;

	for (size_t i = 0; i < COUNT(places); i++) {
		if (places[i].path && path_within(path, places[i].path) &&
		    (!found || strlen(places[i].path) > strlen(found))) {
			found = places[i].path;
			*ret_name = places[i].name;
		}
	}
	return found;
}

static struct verdict without_rule(const struct fence_plan *plan, const char *path)
{
	/* Paths that bubblewrap covers in a new /proc. */
	static const char *const closed[] = { "/proc/sys", "/proc/sysrq-trigger", "/proc/irq",
					      "/proc/bus" };

	if (defaults_is_system(path) || path_within(path, "/run/ringfence") ||
	    within_any(path, closed, COUNT(closed)))
		return (struct verdict){ .wall = VERDICT_READ_ONLY, .name = "system" };
	if (plan->own && path_within(path, "/proc"))
		return (struct verdict){ .wall = VERDICT_READ_ONLY, .name = "system" };
	if (path_within(path, "/proc")) /* its own permissions decide */
		return (struct verdict){ .wall = VERDICT_OPEN, .name = "system" };
	if (path_within(path, "/dev"))
		return (struct verdict){ .wall = VERDICT_FIXED, .name = "system" };
	return (struct verdict){ .wall = VERDICT_OUTSIDE, .name = "outside" };
}

struct verdict verdict_at(const struct fence_plan *plan, const char *path)
{
	static const enum verdict_wall walls[] = {
		[WIRE_WRITE] = VERDICT_OPEN,
		[WIRE_READ] = VERDICT_READ_ONLY,
		[WIRE_HIDE] = VERDICT_HIDDEN,
		[WIRE_HIDE_AROUND] = VERDICT_HIDDEN,
	};
	const struct fence_rule *rule = ruleset_find(plan, path);
	const char *name = NULL;
	const char *place = private_place(plan, path, &name);

	if (rule && (!place || strlen(rule->path) >= strlen(place)))
		return (struct verdict){ .wall = walls[rule->access], .by = rule, .path = path };
	if (place)
		return (struct verdict){ .wall = VERDICT_PRIVATE, .name = name };
	return without_rule(plan, path);
}

bool verdict_harmless(const struct verdict *verdict, const char *path)
{
	static const char cache[] = "/__pycache__";
	const char *found = strstr(path, cache);

	return !verdict->by && verdict->wall == VERDICT_READ_ONLY && found &&
	       (!found[strlen(cache)] || found[strlen(cache)] == '/');
}

bool verdict_refuses(enum verdict_wall wall, enum verdict_act act,
		     const struct verdict_sight *sight)
{
	bool missing = !sight->inside && sight->on_host; /* removed by the fence */
	bool there = sight->inside || sight->on_host;
	/* A new file that could be created outside. In a private place, only the parent folder can
	 * be missing. */
	bool could_be = wall == VERDICT_PRIVATE ? !sight->folder && sight->folder_on_host
						: sight->folder || sight->folder_on_host;

	if (wall == VERDICT_OPEN)
		return false;
	switch (act) {
	case VERDICT_READ:
	case VERDICT_CONNECT:
		return missing || wall == VERDICT_HIDDEN;
	case VERDICT_LOOK:
		return missing;
	case VERDICT_LINK:
		return missing || wall == VERDICT_HIDDEN ||
		       (wall == VERDICT_READ_ONLY && sight->inside);
	case VERDICT_CHANGE:
		return wall == VERDICT_PRIVATE || wall == VERDICT_FIXED ? missing : there;
	case VERDICT_REMOVE:
		return wall == VERDICT_PRIVATE ? missing : there;
	case VERDICT_WRITE:
		if (sight->inside)
			return wall != VERDICT_PRIVATE && wall != VERDICT_FIXED;
		return could_be;
	case VERDICT_CREATE:
		return !sight->inside && could_be;
	case VERDICT_ACTS:
		break;
	}
	return false;
}

const char *verdict_kind(enum verdict_act act, bool there)
{
	static const char *const kinds[VERDICT_ACTS] = {
		[VERDICT_READ] = "read",     [VERDICT_LOOK] = "read",
		[VERDICT_LINK] = "link",     [VERDICT_CONNECT] = "connect",
		[VERDICT_CHANGE] = "write",  [VERDICT_REMOVE] = "remove",
		[VERDICT_CREATE] = "create",
	};

	if (act == VERDICT_WRITE)
		return there ? "write" : "create";
	return kinds[act];
}

const char *verdict_protected(const char *path)
{
	const struct names_found above = names_above("", path);
	const struct names_found file = names_find("", path, DT_REG);
	const struct names_found folder = names_find("", path, DT_DIR);

	if (above.by[NAMES_SECRET] || file.by[NAMES_SECRET] || folder.by[NAMES_SECRET] ||
	    file.by[NAMES_SECRET_OR_CERTIFICATE])
		return "secret";
	if (above.by[NAMES_ALONE] || file.by[NAMES_ALONE] || folder.by[NAMES_ALONE])
		return "executed by the host";
	return NULL;
}

const char *verdict_reader(const char *path, enum names_class class)
{
	const struct names_found above = names_above("", path);
	const struct names_found file = names_find("", path, DT_REG);
	const struct names_found folder = names_find("", path, DT_DIR);

	return file.by[class]     ? file.by[class]
	       : folder.by[class] ? folder.by[class]
				  : above.by[class];
}

bool verdict_is_named(const char *path)
{
	bool named = false;

	for (int class = 0; class < NAMES_CLASSES; class ++)
		named = named || names_find("", path, DT_REG).by[class];
	return named;
}

void verdict_name(const struct fence_plan *plan, const struct verdict *verdict, char **ret_rule,
		  const char **ret_origin)
{
	static const char *const verbs[] = { [WIRE_WRITE] = "write",
					     [WIRE_READ] = "read",
					     [WIRE_HIDE] = "hide",
					     [WIRE_HIDE_AROUND] = "hide" };
	const struct fence_rule *rule = verdict->by;

	*ret_origin = built_in;
	if (!rule) {
		*ret_rule = mem_dup(verdict->name);
	} else if (rule->project) {
		/* The whole project is read-only, but the reason that a file is always protected
		 * says more. */
		const char *anyway = rule->access == WIRE_READ && verdict->path
					     ? verdict_protected(verdict->path + strlen(rule->path))
					     : NULL;

		*ret_rule = mem_dup(anyway ? anyway : "project");
		*ret_origin = anyway ? built_in : rule->origin;
	} else if (rule->asked) {
		size_t size = strlen(plan->project);
		bool below = path_within(rule->path, plan->project) && rule->path[size];

		*ret_rule = mem_format("%s %s", verbs[rule->access],
				       below ? rule->path + size + 1 : rule->path);
		*ret_origin = rule->origin;
	} else {
		*ret_rule = mem_dup(rule->origin);
	}
}

/* The rest of a path after the component `name`, or NULL. */
static const char *after_component(const char *path, const char *name)
{
	size_t size = strlen(name);

	return strncmp(path, name, size) == 0 && (path[size] == '/' || !path[size]) ? path + size
										    : NULL;
}

/* The rest of a path after a process's component (self or a pid), or NULL. */
static const char *after_process(const char *path, bool *ret_self)
{
	const char *rest = after_component(path, "self");

	if (!rest)
		rest = after_component(path, "thread-self");
	*ret_self = rest;
	if (!rest && isdigit((unsigned char)*path)) {
		rest = path + strspn(path, "0123456789");
		if (*rest && *rest != '/')
			rest = NULL;
	}
	return rest && *rest ? rest + 1 : NULL;
}

const char *verdict_past_proc(const char *path, bool *ret_from_cwd)
{
	*ret_from_cwd = false;
	for (;;) {
		bool self = false;
		const char *rest = strncmp(path, "/proc/", 6) == 0 ? after_process(path + 6, &self)
								   : NULL;
		const char *root = rest ? after_component(rest, "root") : NULL;
		const char *cwd = rest && self ? after_component(rest, "cwd") : NULL;

		if (cwd) {
			*ret_from_cwd = true;
			return cwd + strspn(cwd, "/");
		}
		if (!root)
			return path;
		path = *root ? root : "/";
	}
}

pid_t verdict_inner_pid(const char *status)
{
	static const char key[] = "\nNStgid:";
	const char *line = strstr(status, key);
	long pid = 0;

	if (!line)
		return 0;
	line += strlen(key);
	while (*line && *line != '\n') {
		char *end;
		long number = strtol(line, &end, 10);

		if (end == line || number < 0 || number > 1L << 30)
			break;
		pid = number;
		line = end;
		line += strspn(line, "\t ");
	}
	return (pid_t)pid;
}

/* Returns word number `index` of a line, or its end if there are fewer. */
static const char *word(const char *line, size_t index)
{
	for (line += strspn(line, " "); index > 0; index--) {
		line += strcspn(line, " \n");
		line += strspn(line, " ");
	}
	return line;
}

/* The port of an address such as 0100007F:1F90; 0 if malformed. */
static unsigned long port_of(const char *address)
{
	address += strcspn(address, ": \n");
	return *address == ':' ? strtoul(address + 1, NULL, 16) : 0;
}

/* Indexes of words in a line such as "0: 0100007F:1F90 00000000:0000 0A ...": number, local and
 * remote address, state, ...; the inode is the tenth word. */
enum { LOCAL = 1, REMOTE, STATE, INODE = 9 };

bool verdict_listens(const char *table, unsigned int port)
{
	for (const char *line = table; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (port_of(word(line, LOCAL)) == port && strncmp(word(line, STATE), "0A ", 3) == 0)
			return true;
	}
	return false;
}

uint64_t verdict_socket(const char *table, unsigned int local_port, unsigned int remote_port)
{
	for (const char *line = table; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (port_of(word(line, LOCAL)) == local_port &&
		    port_of(word(line, REMOTE)) == remote_port)
			return strtoull(word(line, INODE), NULL, 10);
	}
	return 0;
}

void verdict_arguments(const char *bytes, size_t size, struct list *ret_arguments)
{
	enum { MOST = 256 };

	while (size > 0 && ret_arguments->count < MOST) {
		size_t length = strnlen(bytes, size);

		list_printf(ret_arguments, "%.*s", (int)length, bytes);
		size -= length;
		bytes += length;
		if (size > 0) {
			size--;
			bytes++;
		}
	}
}
