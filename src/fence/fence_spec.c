/* Building and parsing the parts of a spec: see fence_spec.h. */
#include "fence/fence_spec.h"

#include "fence/fence_mechanisms.h"
#include "fence/fence_place.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

int fence_listen_parse(const char *text, struct fence_listen *ret_listen, struct error *err)
{
	static const char expected[] =
		"listen must be 127.0.0.1:PORT or [::1]:PORT, optionally followed by =SOCKET";
	AUTO_FREE char *copy = mem_dup(text);
	struct fence_listen listen = { .where.family = 4 };
	char *socket = strchr(copy, '=');
	char *port;
	char *end;

	if (socket)
		*socket++ = '\0';
	if (socket && *socket != '/')
		return error_set(err, "%s: the socket '%s' is not an absolute path", expected,
				 socket);
	if (socket && strlen(socket) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return error_set(
			err,
			"listen: the socket path is longer than the kernel's limit of %zu bytes: %s",
			sizeof(((struct sockaddr_un *)0)->sun_path) - 1, socket);
	port = strrchr(copy, ':');
	if (!port)
		return error_set(err, "%s (got '%s')", expected, text);
	*port++ = '\0';
	if (copy[0] == '[' && port - copy > 2 && port[-2] == ']') {
		port[-2] = '\0';
		listen.where.family = 6;
		if (inet_pton(AF_INET6, copy + 1, listen.where.address) != 1 ||
		    memcmp(listen.where.address, &in6addr_loopback, sizeof listen.where.address) !=
			    0)
			return error_set(err, "%s (got '%s')", expected, text);
	} else if (inet_pton(AF_INET, copy, listen.where.address) != 1 ||
		   listen.where.address[0] != 127) {
		return error_set(err, "%s (got '%s')", expected, text);
	}
	errno = 0;
	listen.where.port = (uint32_t)strtoul(port, &end, 10);
	if (errno || *end || strspn(port, "0123456789") != strlen(port) || strlen(port) > 5 ||
	    listen.where.port < 1 || listen.where.port > 65535)
		return error_set(err, "%s: '%s' is not a valid port", expected, port);
	if (listen.where.port < 1024)
		return error_set(
			err,
			"listen: port %u needs a privilege that nothing inside the fence has; use a port above 1023",
			listen.where.port);
	if (socket)
		listen.socket = mem_dup(socket);
	*ret_listen = listen;
	return 0;
}

void fence_paths_add(struct fence_paths *paths, const char *path, const char *origin)
{
	paths->items = mem_resize(paths->items, paths->count + 1, sizeof *paths->items);
	paths->items[paths->count++] = (struct fence_path){ .path = mem_dup(path),
							    .origin = mem_dup(origin) };
}

void fence_paths_add_git(struct fence_paths *paths, const char *project)
{
	AUTO_FREE char *git = path_join(project, ".git");

	if (access(git, F_OK) < 0)
		return;
	fence_paths_add(paths, git, "git: read-only");
	paths->items[paths->count - 1].weak = true;
}

void fence_paths_add_all(struct fence_paths *paths, const struct fence_paths *from)
{
	for (size_t i = 0; i < from->count; i++) {
		fence_paths_add(paths, from->items[i].path, from->items[i].origin);
		paths->items[paths->count - 1].weak = from->items[i].weak;
		paths->items[paths->count - 1].made = from->items[i].made;
	}
}

void fence_paths_release(struct fence_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		free(paths->items[i].path);
		free(paths->items[i].origin);
	}
	free(paths->items);
	*paths = (struct fence_paths){ 0 };
}

void fence_covers_add(struct fence_covers *covers, const char *path, const char *source,
		      bool writable)
{
	covers->items = mem_resize(covers->items, covers->count + 1, sizeof *covers->items);
	covers->items[covers->count++] = (struct fence_cover){ .path = mem_dup(path),
							       .source = mem_dup(source),
							       .writable = writable };
}

void fence_covers_release(struct fence_covers *covers)
{
	for (size_t i = 0; i < covers->count; i++) {
		free(covers->items[i].path);
		free(covers->items[i].source);
	}
	free(covers->items);
	*covers = (struct fence_covers){ 0 };
}

void fence_spec_release(struct fence_spec *spec)
{
	fence_covers_release(&spec->covers);
	fence_paths_release(&spec->write);
	fence_paths_release(&spec->read);
	fence_paths_release(&spec->hide);
	fence_paths_release(&spec->allow);
	model_access_release(&spec->models);
	for (size_t i = 0; i < spec->patterns.count; i++) {
		glob_release(&spec->patterns.items[i].glob);
		free(spec->patterns.items[i].origin);
	}
	free(spec->patterns.items);
	list_release(&spec->env);
	for (size_t i = 0; i < spec->listen_count; i++)
		free(spec->listens[i].socket);
	free(spec->listens);
}

void fence_spec_taint(const struct fence_spec *spec, struct taint *ret_taint)
{
	const char *project = spec->place ? spec->place->project : spec->project;

	taint_init(ret_taint, spec->place ? spec->place->identity.home : env_home());
	taint_add(ret_taint, project ? project : ".");
	for (size_t i = 0; i < spec->write.count; i++)
		taint_add(ret_taint, spec->write.items[i].path);
}

bool fence_spec_has_mounts(const struct fence_spec *spec)
{
#define NAME(name) #name,
	static const char *const sharing[] = { FENCE_MECHANISMS_SHARING(NAME) };
#undef NAME

	for (size_t i = 0; i < sizeof sharing / sizeof *sharing; i++)
		if (strcmp(spec->mechanism, sharing[i]) == 0)
			return false;
	return !(spec->accepted_weaker & FENCE_WEAKER_NO_FENCE);
}
