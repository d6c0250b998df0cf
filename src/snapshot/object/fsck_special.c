/* Checks files that git itself reads. */
#include "snapshot/object/fsck.h"

#include "gitconfig/gitconfig.h"
#include "util/mem.h"

#include <string.h>
#include <strings.h>

enum { LONGEST_ATTRIBUTES = 2048 };

static bool has_parent_part(const char *path)
{
	for (;;) {
		size_t size = strcspn(path, "/\\");

		if (size == 2 && path[0] == '.' && path[1] == '.')
			return true;
		if (!path[size])
			return false;
		path += size + 1;
	}
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == '\177')
			return true;
	return false;
}

/* Reports whether a path leads into a git directory. */
static bool has_git_part(const char *path)
{
	AUTO_FREE char *copy = mem_dup(path);
	char *rest = copy;

	for (char *part; (part = strsep(&rest, "/"));)
		if (fsck_is_dotgit(part))
			return true;
	return false;
}

/*
 * Reports whether a relative URL leaves the repository's URL upwards and continues with what could
 * be a host: "../../../:x".
 */
static bool can_reach_host(const char *url)
{
	bool up = false;

	for (;;) {
		if (strncmp(url, "./", 2) == 0)
			url += 2;
		else if (strncmp(url, "../", 3) == 0) {
			url += 3;
			up = true;
		} else
			return up && (*url == ':' || *url == '/');
	}
}

/*
 * Reports whether a program could mistake the URL for an option, or it contains a line break,
 * encoded or not.
 */
static bool is_unsafe_url(const char *url)
{
	for (const char *at = url; *at; at++)
		if (strncasecmp(at, "%0a", 3) == 0 || strncasecmp(at, "%0d", 3) == 0)
			return true;
	return has_control(url) || url[0] == '-' || strncmp(url, "ext::", 5) == 0 ||
	       strncmp(url, "fd::", 4) == 0 || strstr(url, "://-") || strstr(url, "::-") ||
	       can_reach_host(url);
}

static int check_entry(void *context, const struct gitconfig_entry *entry)
{
	struct error *err = context;

	if (strcmp(entry->section, "submodule") != 0 || !entry->subsection)
		return 0;
	if (has_parent_part(entry->subsection) || !*entry->subsection ||
	    has_control(entry->subsection))
		return error_set(err, "a .gitmodules with an invalid submodule name"), 1;
	if (strcmp(entry->key, "url") == 0 && is_unsafe_url(entry->value))
		return error_set(err, "a .gitmodules with an unsafe URL"), 1;
	if (strcmp(entry->key, "path") == 0 &&
	    (entry->value[0] == '-' || entry->value[0] == '/' || has_parent_part(entry->value) ||
	     has_control(entry->value) || has_git_part(entry->value)))
		return error_set(err, "a .gitmodules with an unsafe path"), 1;
	if (strcmp(entry->key, "update") == 0 && entry->value[0] == '!')
		return error_set(err, "a .gitmodules with a command"), 1;
	return 0;
}

int fsck_modules(const char *bytes, size_t size, struct error *err)
{
	int result;

	if (size > FSCK_MODULES_BYTES)
		return error_set(err, "a .gitmodules of more than %d bytes", FSCK_MODULES_BYTES);
	/* Some of git's parsers treat these as a part of a path, others do not. */
	for (size_t i = 0; i < size; i++)
		if (!bytes[i] || (bytes[i] == '\r' && (i + 1 == size || bytes[i + 1] != '\n')))
			return error_set(err, "a .gitmodules with a %s",
					 bytes[i] ? "carriage return" : "zero byte");
	result = gitconfig_each(bytes, size, check_entry, err);
	if (result < 0)
		return error_set(err, "a .gitmodules that cannot be parsed");
	return result ? -1 : 0;
}

int fsck_attributes(const char *bytes, size_t size, struct error *err)
{
	const char *end = bytes + size;

	if (size > FSCK_ATTRIBUTES_BYTES)
		return error_set(err, "a .gitattributes of more than %d MiB",
				 FSCK_ATTRIBUTES_BYTES >> 20);
	while (bytes < end) {
		const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));

		stop = stop ? stop : end;
		if (stop - bytes >= LONGEST_ATTRIBUTES)
			return error_set(err, "a .gitattributes with a line of %d bytes or more",
					 LONGEST_ATTRIBUTES);
		bytes = stop + 1;
	}
	return 0;
}

int fsck_special(const struct fsck_link *link, const char *bytes, size_t size, struct error *err)
{
	if (link->modules && fsck_modules(bytes, size, err) < 0)
		return -1;
	return link->attributes ? fsck_attributes(bytes, size, err) : 0;
}
