/* Following paths: see symlinks.h. */
#include "util/file/symlinks.h"

#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

/* Where a path has led so far, and the names that are left. */
struct following {
	struct symlinks *symlinks;
	char *real;
	char *rest;
	int links;
};

/* Goes on from the target of a symlink. */
static void turn(struct following *at, const char *target, const char *rest)
{
	char *joined = mem_format("%s/%s", target, rest);

	free(at->rest);
	at->rest = joined;
	at->links++;
	if (target[0] == '/') {
		free(at->real);
		at->real = mem_dup("/");
	}
}

/* Reads a symlink into `target`. Returns whether the path is one. */
static bool read_link(const struct following *at, const char *path, char target[PATH_MAX],
		      bool folder)
{
	const struct symlinks *symlinks = at->symlinks;
	ssize_t n;

	if (at->links >= MOST_LINKS || (folder && textset_has(&symlinks->folders, path)))
		return false;
	n = symlinks->read ? symlinks->read(symlinks->context, path, target)
			   : readlink(path, target, PATH_MAX - 1);
	target[n > 0 ? n : 0] = '\0';
	if (n < 0 && errno == EINVAL && folder)
		textset_add(&at->symlinks->folders, path);
	return n > 0;
}

/* Follows the first name that is left. */
static void step(struct following *at, symlinks_fn *passed, void *context)
{
	size_t start = strspn(at->rest, "/");
	size_t size = strcspn(at->rest + start, "/");
	AUTO_FREE char *name = mem_format("%.*s", (int)size, at->rest + start);
	AUTO_FREE char *rest = mem_dup(at->rest + start + size);
	char *path = path_absolute(name, at->real);
	char target[PATH_MAX];

	if (read_link(at, path, target, rest[strspn(rest, "/")])) {
		passed(context, path, target);
		turn(at, target, rest);
		free(path);
		return;
	}
	passed(context, path, NULL);
	free(at->real);
	at->real = path;
	free(at->rest);
	at->rest = mem_dup(rest);
}

char *symlinks_follow(struct symlinks *symlinks, const char *path, symlinks_fn *passed,
		      void *context)
{
	struct following at = { .symlinks = symlinks, .real = mem_dup("/"), .rest = mem_dup(path) };

	while (at.rest[strspn(at.rest, "/")])
		step(&at, passed, context);
	free(at.rest);
	return at.real;
}

void symlinks_release(struct symlinks *symlinks)
{
	textset_release(&symlinks->folders);
}
