/* Telling what an agent can change: see taint.h. */
#include "util/taint.h"

#include "util/buffer.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/file/symlinks.h"
#include "util/mem.h"
#include "util/text/shell.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A way to a file. */
struct way {
	const struct taint *taint;
	bool inside;
};

static void pass(void *context, const char *path, const char *target)
{
	struct way *way = context;

	(void)target;
	for (size_t i = 0; i < way->taint->places.count; i++)
		way->inside = way->inside || path_within(path, way->taint->places.items[i]);
}

/* Follows a path. Returns where it leads, which the caller frees. */
static char *follow(const char *path, struct way *way)
{
	struct symlinks symlinks = { 0 };
	char *real = symlinks_follow(&symlinks, path, pass, way);

	symlinks_release(&symlinks);
	return real;
}

void taint_init(struct taint *ret_taint, const char *home)
{
	*ret_taint = (struct taint){ .home = mem_dup(home) };
}

void taint_release(struct taint *taint)
{
	list_release(&taint->places);
	free(taint->home);
	taint->home = NULL;
}

void taint_add(struct taint *taint, const char *path)
{
	const struct taint nothing = { 0 };
	struct way way = { .taint = &nothing };
	AUTO_FREE char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
	AUTO_FREE char *whole = path[0] == '~' ? path_join(taint->home, path + 1)
					       : path_join(here ? here : "", path);
	AUTO_FREE char *real = path[0] ? follow(whole, &way) : NULL;

	if (real)
		list_add(&taint->places, real);
}

bool taint_has(const struct taint *taint, const char *path)
{
	struct way way = { .taint = taint };
	AUTO_FREE char *real = follow(path, &way);

	return way.inside;
}

/* ---- words of a command ---- */

/* Checks a path, up to its end or to a character that separates it from what follows. */
static bool has_part(const struct taint *taint, const char *folder, const char *path)
{
	AUTO_FREE char *whole = path_join(folder, path);
	AUTO_FREE char *part = mem_format("%s/%.*s", folder, (int)strcspn(path, ",:;="), path);

	return taint_has(taint, whole) || taint_has(taint, part);
}

/* Returns whether a path may begin at a slash of a word: "/a", "--x=/a", "-I/a", "file:///a", but
 * not "b/a" or "https://a". */
static bool begins_path(const char *word, const char *slash)
{
	char before = slash == word ? '\0' : slash[-1];

	if (before == ':' && slash[1] == '/')
		return slash[2] == '/';
	return !(isalnum((unsigned char)before) || strchr("._-/~}]", before)) || before == '\0' ||
	       (word[0] == '-' && slash == word + 2);
}

/* Returns whether the home, as a shell reads it, is before a slash of a word. */
static bool follows_home(const char *word, const char *slash)
{
	static const char *const homes[] = { "~", "$HOME", "${HOME}" };

	for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
		size_t size = strlen(homes[i]);

		if ((size_t)(slash - word) >= size && strncmp(slash - size, homes[i], size) == 0)
			return true;
	}
	return false;
}

/* In a folder that an agent can change, "a/b" is a path only if there is such a file. */
static bool has_relative(const struct taint *taint, const char *word)
{
	const char *folder = taint->folder ? taint->folder : "";
	AUTO_FREE char *path = path_join(folder, word);

	if (!strchr(word, '/') || strchr("/-~$", word[0]))
		return false;
	if (taint->folder && word[0] != '.' && access(path, F_OK) < 0)
		return false;
	return has_part(taint, folder, word);
}

static int refuse(const char *path, struct error *err)
{
	return error_with(
		err, ERROR_REFUSED,
		"an agent can change '%.1000s', in the project or a folder of --write: keep it "
		"elsewhere",
		path);
}

int taint_check_word(const struct taint *taint, const char *word, struct error *err)
{
	if (has_relative(taint, word))
		return refuse(word, err);
	for (const char *at = strchr(word, '/'); at; at = strchr(at + 1, '/')) {
		if (begins_path(word, at) && has_part(taint, "", at + 1))
			return refuse(at, err);
		if (follows_home(word, at) && has_part(taint, taint->home, at + 1))
			return refuse(word, err);
	}
	return 0;
}

/* ---- programs ---- */

/* Adds the folders of PATH that no agent can change. */
static void add_folders(const struct taint *taint, struct list *folders)
{
	struct list all = { 0 };

	env_path(&all);
	for (size_t i = 0; i < all.count; i++)
		if (!taint_has(taint, all.items[i]))
			list_add(folders, all.items[i]);
	list_release(&all);
}

/* Finds a program in these folders, also one that leads elsewhere if `any`. */
static char *find(const struct taint *taint, const char *name, bool any)
{
	struct list folders = { 0 };
	char *found = NULL;

	add_folders(taint, &folders);
	for (size_t i = 0; i < folders.count && !found; i++) {
		char *file = path_join(folders.items[i], name);

		if (access(file, X_OK) == 0 && (any || !taint_has(taint, file)))
			found = file;
		else
			free(file);
	}
	list_release(&folders);
	return found;
}

char *taint_find(const struct taint *taint, const char *name)
{
	return find(taint, name, false);
}

static int check_found(const struct taint *taint, const char *word, struct error *err)
{
	AUTO_FREE char *found = strchr(word, '/') ? NULL : find(taint, word, true);

	return found && taint_has(taint, found) ? refuse(found, err) : 0;
}

int taint_check_line(const struct taint *taint, const char *line, struct error *err)
{
	struct list words = { 0 };
	int result = 0;

	shell_words(line, &words);
	for (size_t i = 0; i < words.count && result == 0; i++) {
		result = taint_check_word(taint, words.items[i], err);
		if (result == 0)
			result = check_found(taint, words.items[i], err);
	}
	list_release(&words);
	return result;
}

char *taint_path(const struct taint *taint)
{
	struct list folders = { 0 };
	AUTO_BUFFER struct buffer path = BUFFER_INIT(1 << 20);

	add_folders(taint, &folders);
	/* A shell takes an empty PATH for the current folder. */
	buffer_add_text(&path, "PATH=/nonexistent");
	for (size_t i = 0; i < folders.count; i++)
		buffer_printf(&path, ":%s", folders.items[i]);
	list_release(&folders);
	return mem_dup(buffer_text(&path));
}

void taint_environment(const struct taint *taint, struct list *environment)
{
	AUTO_FREE char *path = taint_path(taint);

	env_copy(environment);
	env_put(environment, path);
}
