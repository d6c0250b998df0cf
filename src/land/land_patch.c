/* Credentials in a patch: see land_patch.h. */
#include "land/land_patch.h"

#include "credential/credential.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ADDED_BYTES = 4 << 20 };

/* The lines that are added to a file, one after the other. */
struct added {
	struct buffer lines;
	char *path;
};

static bool is_known(const struct land_patch *patch, const char *path, const char *shown)
{
	for (size_t i = 0; i < patch->count; i++)
		if (strcmp(patch->findings[i].path, path) == 0 &&
		    strcmp(patch->findings[i].shown, shown) == 0)
			return true;
	return false;
}

static void scan(struct land_patch *patch, const char *path, const char *bytes, size_t size)
{
	struct credential_finding found[LAND_PATCH_FINDINGS];
	size_t count = credential_scan(bytes, size, found, LAND_PATCH_FINDINGS);

	for (size_t i = 0; i < count && patch->count < LAND_PATCH_FINDINGS; i++)
		if (!is_known(patch, path, found[i].shown))
			patch->findings[patch->count++] =
				(struct land_patch_finding){ .path = mem_dup(path),
							     .what = found[i].what,
							     .shown = mem_dup(found[i].shown) };
}

void land_patch_add(struct land_patch *patch, const char *name, const char *text)
{
	scan(patch, name, text, strlen(text));
}

static void scan_added(const struct added *added, const char *bytes, size_t size,
		       struct land_patch *patch)
{
	scan(patch, added->path ? added->path : "a message of a commit", bytes, size);
}

static void flush(struct added *added, struct land_patch *patch)
{
	scan_added(added, buffer_text(&added->lines), added->lines.used, patch);
	added->lines.used = 0;
}

/* A NUL would make everything around it binary, which is not scanned. */
static void add_line(struct added *added, char *line, size_t size, struct land_patch *patch)
{
	for (char *nul = line; (nul = memchr(nul, '\0', (size_t)(line + size - nul)));)
		*nul = ' ';
	if (added->lines.used + size > ADDED_BYTES)
		flush(added, patch);
	if (size > ADDED_BYTES)
		scan_added(added, line, size, patch);
	else
		buffer_add(&added->lines, line, size);
}

/* A line that is added may itself look like the head of a file; it is scanned as well then. */
static void take(struct added *added, char *line, size_t size, struct land_patch *patch)
{
	const char *path = text_after_prefix(line, "+++ ");

	if (path) {
		flush(added, patch);
		free(added->path);
		path += strspn(path, "\"");
		added->path = mem_dup(strchr(path, '/') ? strchr(path, '/') + 1 : path);
		added->path[strcspn(added->path, "\"\t\r\n")] = '\0';
	}
	/* The next mail; no line of a change begins so. */
	if (added->path && text_after_prefix(line, "From ")) {
		flush(added, patch);
		free(added->path);
		added->path = NULL;
	}
	/* Nothing else in a change is new. Without a path, it is a message. */
	if (*line != '+' && added->path)
		return;
	if (*line == '+')
		add_line(added, line + 1, size - 1, patch);
	else
		add_line(added, line, size, patch);
}

int land_patch_scan(int file, struct land_patch *ret_patch, struct error *err)
{
	struct added added = { .lines = BUFFER_INIT(ADDED_BYTES) };
	struct land_patch patch = { 0 };
	int copy = dup(file);
	FILE *stream = copy >= 0 && lseek(copy, 0, SEEK_SET) == 0 ? fdopen(copy, "r") : NULL;
	char *line = NULL;
	size_t room = 0;
	ssize_t size;
	int result = 0;

	if (!stream) {
		fd_close(&copy);
		return error_sys(err, "read the changes");
	}
	while ((size = getline(&line, &room, stream)) > 0)
		take(&added, line, (size_t)size, &patch);
	flush(&added, &patch);
	if (ferror(stream)) {
		land_patch_release(&patch);
		result = error_sys(err, "read the changes");
	} else {
		*ret_patch = patch;
	}
	free(line);
	free(added.path);
	buffer_release(&added.lines);
	fclose(stream);
	return result;
}

void land_patch_release(struct land_patch *patch)
{
	for (size_t i = 0; i < patch->count; i++) {
		free(patch->findings[i].path);
		free(patch->findings[i].shown);
	}
	*patch = (struct land_patch){ 0 };
}
