/* Agreements of the user: see trust.h. */
#include "config/trust.h"

#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 16384, MOST_RECORDS = 10000 };

static const char folder_name[] = "trust";

static char *record_path(const char *state, const char *project)
{
	char name[SHA256_HEX];

	sha256_hex(project, strlen(project), name);
	return mem_format("%s/%s/%s", state, folder_name, name);
}

/* Moves past a required word. Returns false if it is missing. */
static bool skip(const char **at, const char *word)
{
	size_t size = strlen(word);

	if (strncmp(*at, word, size) != 0)
		return false;
	*at += size;
	return true;
}

/* Parses "hash HEX\ntime SECONDS\npath PATH". The path extends to the end: it may have newlines. */
static int parse(const char *text, struct trust *ret_trust)
{
	struct trust trust = { 0 };
	char *end;

	if (!skip(&text, "hash ") || strspn(text, "0123456789abcdef") != SHA256_HEX - 1)
		return -1;
	memcpy(trust.hash, text, SHA256_HEX - 1);
	text += SHA256_HEX - 1;
	if (!skip(&text, "\ntime ") || *text < '0' || *text > '9')
		return -1;
	trust.time = strtoull(text, &end, 10);
	text = end;
	if (!skip(&text, "\npath ") || *text != '/')
		return -1;
	trust.path = mem_dup(text);
	*ret_trust = trust;
	return 0;
}

/* Reads a record. Returns 0, or -1 with errno set; EBADMSG means a damaged record. */
static int load(int folder, const char *name, struct trust *ret_trust)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(MOST_BYTES);
	AUTO_FD fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fd_read_all(fd, &bytes) < 0)
		return -1;
	if (parse(buffer_text(&bytes), ret_trust) < 0) {
		errno = EBADMSG;
		return -1;
	}
	return 0;
}

int trust_find(const char *state, const char *project, struct trust *ret_trust, struct error *err)
{
	AUTO_FREE char *path = record_path(state, project);
	struct trust trust = { 0 };

	if (load(AT_FDCWD, path, &trust) < 0) {
		if (errno != ENOENT && errno != ENOTDIR && errno != EBADMSG)
			return error_sys(err, "read the record of trust '%s'", path);
	} else if (strcmp(trust.path, project) != 0) {
		trust_release(&trust);
	}
	*ret_trust = trust;
	return 0;
}

void trust_release(struct trust *trust)
{
	free(trust->path);
	*trust = (struct trust){ 0 };
}

int trust_record(const char *state, const char *project, const char *hash, uint64_t time,
		 struct error *err)
{
	AUTO_FREE char *folder = path_join(state, folder_name);
	AUTO_FREE char *path = record_path(state, project);
	AUTO_FREE char *text = mem_format("hash %s\ntime %lu\npath %s", hash, (unsigned long)time,
					  project);
	AUTO_FD fd = -1;

	if (state_folder_make(folder, 0700) < 0)
		return error_sys(err, "create '%s'", folder);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || durable_replace(fd, path_name(path), text, strlen(text), 0600) < 0)
		return error_sys(err, "write '%s'", path);
	return 0;
}

int trust_forget(const char *state, const char *project, int *ret_was, struct error *err)
{
	AUTO_FREE char *path = record_path(state, project);
	AUTO_FREE char *folder = path_join(state, folder_name);
	AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*ret_was = fd >= 0 && durable_remove(fd, path_name(path)) == 0;
	if (!*ret_was && errno != ENOENT && errno != ENOTDIR)
		return error_sys(err, "remove '%s'", path);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return path_compare(((const struct trust *)a)->path, ((const struct trust *)b)->path);
}

int trust_all(const char *state, struct trust_list *ret_list, struct error *err)
{
	AUTO_FREE char *folder = path_join(state, folder_name);
	struct trust_list list = { 0 };
	DIR *dir = opendir(folder);

	if (!dir && errno != ENOENT)
		return error_sys(err, "read '%s'", folder);
	for (struct dirent *entry; dir && list.count < MOST_RECORDS && (entry = readdir(dir));) {
		struct trust trust;

		if (entry->d_name[0] == '.' || strchr(entry->d_name, '.') ||
		    load(dirfd(dir), entry->d_name, &trust) < 0)
			continue;
		list.items = mem_resize(list.items, list.count + 1, sizeof *list.items);
		list.items[list.count++] = trust;
	}
	if (dir)
		closedir(dir);
	if (list.count)
		qsort(list.items, list.count, sizeof *list.items, by_path);
	*ret_list = list;
	return 0;
}

void trust_list_release(struct trust_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		trust_release(&list->items[i]);
	free(list->items);
	*list = (struct trust_list){ 0 };
}
