/* Recognizes and finds git directories: see gitdir.h. */
#include "gitconfig/gitdir.h"

#include "gitconfig/gitconfig.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { POINTER_BYTES = 8192, CONFIG_BYTES = 1 << 20, FOLDED_BYTES = 1 << 20 };

/* ---- recognizing ---- */

enum gitdir_kind gitdir_classify(gitdir_has_fn *has, void *context)
{
	if (has(context, "HEAD", true) &&
	    (has(context, "refs", false) || has(context, "commondir", true)))
		return GITDIR_WHOLE;
	if (has(context, "refs", false) && has(context, "objects", false) &&
	    (has(context, "config", true) || has(context, "hooks", false)))
		return GITDIR_COMMON;
	return GITDIR_NONE;
}

bool gitdir_is_part(const char *folded)
{
	static const char *const parts[] = { "head",    "refs",   "commondir",
					     "objects", "config", "hooks" };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strcmp(folded, parts[i]) == 0)
			return true;
	return false;
}

static bool is_on_disk(void *context, const char *name, bool file)
{
	struct stat status;

	return fstatat(*(const int *)context, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !(file && S_ISDIR(status.st_mode));
}

enum gitdir_kind gitdir_classify_folder(int folder)
{
	return gitdir_classify(is_on_disk, &folder);
}

enum gitdir_kind gitdir_classify_path(const char *path)
{
	AUTO_FD folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return folder < 0 ? GITDIR_NONE : gitdir_classify_folder(folder);
}

/* HFS+ ignores these. */
static bool is_invisible(uint32_t point)
{
	return (point >= 0x200c && point <= 0x200f) || (point >= 0x202a && point <= 0x202e) ||
	       (point >= 0x206a && point <= 0x206f) || point == 0xfeff;
}

/* Drops the end of a name that some file systems ignore. */
static void end_name(struct buffer *folded, size_t start)
{
	const char *colon = NULL;

	if (folded->used > start) /* else there may be no data at all */
		colon = memchr(folded->data + start, ':', folded->used - start);
	if (colon)
		folded->used = (size_t)(colon - folded->data);
	while (folded->used > start && strchr(". ", folded->data[folded->used - 1]))
		folded->used--;
}

char *gitdir_fold(const char *path)
{
	AUTO_BUFFER struct buffer folded = BUFFER_INIT(FOLDED_BYTES);
	size_t start = 0;
	uint32_t point;

	for (const char *at = path; *at;) {
		size_t step = text_utf8(at, strnlen(at, 4), &point);
		char byte = (char)tolower((unsigned char)*at);

		if (*at == '/')
			end_name(&folded, start);
		if (!step || !is_invisible(point))
			buffer_add(&folded, &byte, 1);
		if (*at == '/')
			start = folded.used;
		at += step && is_invisible(point) ? step : 1;
	}
	end_name(&folded, start);
	return mem_format("%.*s", (int)folded.used, buffer_text(&folded));
}

/* ---- finding ---- */

char *gitdir_pointer(const char *folder, const char *name, const char *word)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(POINTER_BYTES);

	if (fd_read_path(path, &text) < 0 || strncmp(buffer_text(&text), word, strlen(word)) != 0)
		return NULL;

	const char *line = buffer_text(&text) + strlen(word);
	AUTO_FREE char *path_text = mem_format("%.*s", (int)strcspn(line, "\r\n"), line);

	return *path_text ? path_absolute(path_text, folder) : NULL;
}

char *gitdir_find(const char *work_tree)
{
	AUTO_FREE char *path = path_join(work_tree, ".git");
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return mem_dup(path);
	return gitdir_pointer(work_tree, ".git", "gitdir: ");
}

static bool has_git(const char *folder)
{
	AUTO_FREE char *git = gitdir_find(folder);

	return git != NULL;
}

char *gitdir_around(const char *folder)
{
	AUTO_FREE char *at = mem_dup(folder);

	if (has_git(at))
		return NULL;
	for (char *end; (end = strrchr(at, '/')) && end > at;) {
		*end = '\0';
		if (has_git(at))
			return mem_dup(at);
	}
	return NULL;
}

static int keep_work_tree(void *context, const struct gitconfig_entry *entry)
{
	char **value = context;

	if (strcmp(entry->section, "core") == 0 && !entry->subsection &&
	    strcmp(entry->key, "worktree") == 0) {
		free(*value);
		*value = mem_dup(entry->value);
	}
	return 0;
}

static char *configured_work_tree(const char *git)
{
	AUTO_FREE char *path = path_join(git, "config");
	AUTO_BUFFER struct buffer text = BUFFER_INIT(CONFIG_BYTES);
	AUTO_FREE char *value = NULL;

	if (fd_read_path(path, &text) < 0)
		return NULL;
	gitconfig_each(buffer_text(&text), text.used, keep_work_tree, &value);
	return value && *value ? path_absolute(value, git) : NULL;
}

char *gitdir_work_tree(const char *git)
{
	AUTO_FREE char *back = gitdir_pointer(git, "gitdir", "");
	char *configured;

	if (back)
		return path_absolute("..", back);
	configured = configured_work_tree(git);
	if (configured)
		return configured;
	return strcmp(path_name(git), ".git") == 0 ? path_absolute("..", git) : mem_dup(git);
}
