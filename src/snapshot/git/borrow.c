/* The user's repository. */
#include "snapshot/git/borrow.h"

#include "gitconfig/gitconfig.h"
#include "gitconfig/gitdir.h"
#include "lfs/lfs_filter.h"
#include "snapshot/base/gituser.h"
#include "snapshot/base/libgit.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/shell.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONFIG_BYTES = 1 << 20, MOST_NESTED = 5 };

static int refuse(struct borrow *borrow, const char *why)
{
	if (!*borrow->why)
		snprintf(borrow->why, sizeof borrow->why, "%s", why);
	return 0;
}

/* ---- locations ---- */

/* Resolves the path in a file. Returns NULL if it does not exist; the caller frees it. */
static char *read_path(const char *folder, const char *name, const char *word)
{
	AUTO_FREE char *path = gitdir_pointer(folder, name, word);

	return path ? realpath(path, NULL) : NULL;
}

/* A .git file can name any folder. That folder must name the project in turn. */
static bool points_back(const struct borrow *borrow, const char *project)
{
	AUTO_FREE char *own = path_join(project, ".git");
	AUTO_FREE char *back = read_path(borrow->git, "gitdir", "");

	return back && strcmp(back, own) == 0;
}

static int find_git(struct borrow *borrow, const char *project, struct error *err)
{
	AUTO_FREE char *own = path_join(project, ".git");
	struct stat status;

	if (lstat(own, &status) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : error_sys(err, "stat '%s'", own);
	if (S_ISDIR(status.st_mode)) {
		borrow->git = mem_dup(own);
	} else if (S_ISREG(status.st_mode)) {
		borrow->is_file = true;
		borrow->git = read_path(project, ".git", "gitdir: ");
	} else {
		refuse(borrow, ".git is neither a folder nor a file");
	}
	if (!borrow->git)
		return refuse(borrow, ".git names a folder that does not exist");
	borrow->common = read_path(borrow->git, "commondir", "");
	if (!borrow->common)
		borrow->common = mem_dup(borrow->git);
	return 0;
}

/* Collects object folders, including their alternates. */
static void find_lenders(struct borrow *borrow, const char *objects, int nested)
{
	AUTO_FREE char *real = realpath(objects, NULL);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(CONFIG_BYTES);
	struct stat status;
	char *rest;

	if (!real || stat(real, &status) < 0 || !S_ISDIR(status.st_mode)) {
		if (nested == 0)
			refuse(borrow, "it has no objects folder");
		return; /* git also ignores missing alternates */
	}
	if (list_has(&borrow->lenders, real))
		return;
	if (borrow->lenders.count == BORROW_LENDERS || nested > MOST_NESTED) {
		refuse(borrow, "it borrows objects from too many repositories");
		return;
	}
	list_add(&borrow->lenders, real);

	AUTO_FREE char *alternates = path_join(real, "info/alternates");

	if (fd_read_path(alternates, &text) < 0)
		return;
	rest = (char *)buffer_text(&text);
	for (char *line; (line = strsep(&rest, "\n"));) {
		AUTO_FREE char *path = NULL;

		if (*line == '"')
			refuse(borrow, "it borrows objects from a folder with an unsupported name");
		if (!*line || *line == '#' || *line == '"')
			continue;
		path = path_absolute(line, real);
		find_lenders(borrow, path, nested + 1);
	}
}

/* ---- configuration ---- */

/* The settings that are copied. word: the value must be a single word. */
static const struct copied {
	const char *section;
	const char *key;
	bool named; /* has a subsection */
	bool word;
} copied[] = {
	{ "core", "autocrlf", false, true },
	{ "core", "eol", false, true },
	{ "core", "safecrlf", false, true },
	{ "core", "filemode", false, true },
	{ "core", "ignorecase", false, true },
	{ "core", "symlinks", false, true },
	{ "core", "precomposeunicode", false, true },
	{ "core", "quotepath", false, true },
	{ "core", "abbrev", false, true },
	{ "core", "trustctime", false, true },
	{ "core", "checkstat", false, true },
	{ "core", "sparsecheckout", false, true },
	{ "core", "sparsecheckoutcone", false, true },
	{ "index", "sparse", false, true },
	{ "init", "defaultbranch", false, true },
	{ "pull", "rebase", false, true },
	{ "merge", "conflictstyle", false, true },
	{ "branch", "remote", true, false },
	{ "branch", "merge", true, false },
	{ "branch", "rebase", true, true },
	{ "remote", "fetch", true, false },
	{ "remote", "url", true, false },
};

struct reading {
	struct borrow *borrow;
	const char *project;
	bool own;             /* the repository's configuration, not the user's */
	bool worktree_config; /* config.worktree is also read */
	bool known;           /* a submodule's configuration names the project as its work tree */
};

static bool is_word(const char *text)
{
	size_t size = strlen(text);

	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-_./", text[i]))
			return false;
	return size && size < 100;
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == '\177')
			return false;
	return true;
}

static void add_quoted(struct buffer *out, const char *text)
{
	buffer_add_text(out, "\"");
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buffer_add_text(out, "\\");
		buffer_add(out, text, 1);
	}
	buffer_add_text(out, "\"");
}

/* The part before the host may hold a token. */
static bool holds_secret(const char *url)
{
	const char *host = strstr(url, "://");
	const char *at = host ? strchr(host + 3, '@') : NULL;

	return at && at < host + 3 + strcspn(host + 3, "/");
}

static void copy_setting(struct reading *reading, const struct gitconfig_entry *entry)
{
	struct buffer *out = &reading->borrow->config;

	for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
		const struct copied *at = &copied[i];

		if (strcmp(at->section, entry->section) != 0 || strcmp(at->key, entry->key) != 0 ||
		    at->named != (entry->subsection != NULL))
			continue;
		if (at->word ? !is_word(entry->value) : !is_printable(entry->value))
			return;
		if ((strcmp(entry->key, "url") == 0 && holds_secret(entry->value)) ||
		    (entry->subsection && !is_printable(entry->subsection)))
			return;
		buffer_printf(out, "[%s", entry->section);
		if (entry->subsection) {
			buffer_add_text(out, " ");
			add_quoted(out, entry->subsection);
		}
		buffer_printf(out, "]\n\t%s = ", entry->key);
		add_quoted(out, entry->value);
		buffer_add_text(out, "\n");
		return;
	}
}

/* A submodule's URL makes it active; the URL itself is not copied. */
static void copy_submodule(struct reading *reading, const struct gitconfig_entry *entry)
{
	struct buffer *out = &reading->borrow->config;

	if (strcmp(entry->section, "submodule") != 0 || !entry->subsection ||
	    strcmp(entry->key, "url") != 0 || !is_printable(entry->subsection))
		return;
	buffer_add_text(out, "[submodule ");
	add_quoted(out, entry->subsection);
	buffer_add_text(out, "]\n\tactive = true\n");
}

static bool is_true(const char *value)
{
	return strcasecmp(value, "true") == 0 || strcasecmp(value, "yes") == 0 ||
	       strcasecmp(value, "on") == 0 || strcmp(value, "1") == 0;
}

/* Refuses extensions that change the format of the repository. */
static void check_extension(struct reading *reading, const struct gitconfig_entry *entry)
{
	static const char *const harmless[] = { "noop", "preciousobjects", "relativeworktrees" };
	struct borrow *borrow = reading->borrow;

	if (strcmp(entry->key, "worktreeconfig") == 0) {
		reading->worktree_config = is_true(entry->value);
		return;
	}
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		if (strcmp(entry->key, harmless[i]) == 0)
			return;
	if (strcmp(entry->key, "objectformat") == 0) {
		if (strcasecmp(entry->value, "sha1") != 0)
			refuse(borrow, "its objects use SHA-256");
	} else if (strcmp(entry->key, "partialclone") == 0) {
		refuse(borrow, "it is a partial clone, which lacks some objects");
	} else if (strcmp(entry->key, "refstorage") == 0) {
		if (strcasecmp(entry->value, "files") != 0)
			refuse(borrow, "its refs are not stored in files (reftable)");
	} else {
		refuse(borrow, "it uses an unknown extension");
	}
}

static void check_own(struct reading *reading, const struct gitconfig_entry *entry)
{
	struct borrow *borrow = reading->borrow;

	if (strcmp(entry->section, "extensions") == 0)
		check_extension(reading, entry);
	if (strcmp(entry->section, "remote") == 0 && strcmp(entry->key, "promisor") == 0 &&
	    is_true(entry->value))
		refuse(borrow, "it is a partial clone, which lacks some objects");
	if (strcmp(entry->section, "core") != 0)
		return;
	if (strcmp(entry->key, "repositoryformatversion") == 0 && strcmp(entry->value, "0") != 0 &&
	    strcmp(entry->value, "1") != 0)
		refuse(borrow, "its format is too new");
	if (strcmp(entry->key, "bare") == 0 && is_true(entry->value) && !borrow->is_file)
		refuse(borrow, "it has no work tree");
	/* With several work trees, this setting describes the main one. */
	if (strcmp(entry->key, "worktree") == 0 && strcmp(borrow->git, borrow->common) == 0) {
		AUTO_FREE char *path = path_absolute(entry->value, borrow->git);
		AUTO_FREE char *real = realpath(path, NULL);

		reading->known = real && strcmp(real, reading->project) == 0;
		if (!reading->known)
			refuse(borrow, "its work tree is another folder");
	}
}

/* A relative path is one in the git directory. */
static void read_storage(struct borrow *borrow, const struct gitconfig_entry *entry)
{
	if (strcmp(entry->section, "lfs") != 0 || entry->subsection ||
	    strcmp(entry->key, "storage") != 0 || !*entry->value)
		return;
	free(borrow->lfs);
	borrow->lfs = gituser_path(entry->value, borrow->common);
}

static int read_entry(void *context, const struct gitconfig_entry *entry)
{
	struct reading *reading = context;

	if (reading->own) {
		check_own(reading, entry);
		copy_submodule(reading, entry);
	}
	copy_setting(reading, entry);
	read_storage(reading->borrow, entry);
	return 0;
}

static int read_config_file(struct reading *reading, const char *path)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(CONFIG_BYTES);

	if (fd_read_path(path, &text) < 0)
		return 0;
	return gitconfig_each(buffer_text(&text), text.used, read_entry, reading);
}

static void read_config(struct borrow *borrow, const char *project)
{
	struct reading reading = { .borrow = borrow, .project = project };
	AUTO_FREE char *home = gituser_home();
	AUTO_FREE char *settings = gituser_file(home, "git/config");
	AUTO_FREE char *classic = path_join(home, ".gitconfig");
	AUTO_FREE char *common = path_join(borrow->common, "config");
	AUTO_FREE char *worktree = path_join(borrow->git, "config.worktree");

	/* A missing file is fine; git itself reports a malformed one. */
	read_config_file(&reading, settings);
	read_config_file(&reading, classic);
	reading.own = true;
	if (read_config_file(&reading, common) < 0)
		refuse(borrow, "its configuration cannot be parsed");
	if (reading.worktree_config)
		read_config_file(&reading, worktree);
	if (borrow->is_file && !reading.known && !points_back(borrow, project))
		refuse(borrow,
		       ".git is a file, but the folder that it names does not point back to it");
}

int borrow_find(const char *project, struct borrow *ret_borrow, struct error *err)
{
	AUTO_FREE char *objects = NULL;
	AUTO_FREE char *modules = NULL;
	struct stat status;

	*ret_borrow = (struct borrow){ .config = BUFFER_INIT(4 << 20) };
	if (find_git(ret_borrow, project, err) < 0)
		return -1;
	if (!ret_borrow->git)
		return 0;
	buffer_add_text(&ret_borrow->config,
			"[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
			"\tlogallrefupdates = true\n");
	objects = path_join(ret_borrow->common, "objects");
	find_lenders(ret_borrow, objects, 0);
	ret_borrow->lfs = path_join(ret_borrow->common, "lfs");
	read_config(ret_borrow, project);
	modules = path_join(ret_borrow->git, "modules");
	ret_borrow->modules = lstat(modules, &status) == 0 && S_ISDIR(status.st_mode);
	return 0;
}

static const char *usable(const char *text, const char *instead)
{
	return text && is_printable(text) ? text : instead;
}

void borrow_add_user(struct borrow *borrow)
{
	const struct passwd *entry = getpwuid(getuid());
	const char *login = entry ? entry->pw_name : "ringfence";
	AUTO_FREE char *address = mem_format("%s@localhost", login);
	git_repository *repository = NULL;

	libgit_init();
	git_repository_open(&repository,
			    borrow->git); /* if this fails, the user's global settings are used */

	AUTO_FREE char *name = gituser_setting(repository, "user.name");
	AUTO_FREE char *email = gituser_setting(repository, "user.email");

	git_repository_free(repository);
	buffer_add_text(&borrow->config, "[user]\n\tname = ");
	add_quoted(&borrow->config, usable(name, login));
	buffer_add_text(&borrow->config, "\n\temail = ");
	add_quoted(&borrow->config, usable(email, address));
	buffer_add_text(&borrow->config, "\n");
	if (buffer_overflowed(&borrow->config))
		refuse(borrow, "its configuration is too large");
}

void borrow_add_filter(struct borrow *borrow, const char *git)
{
	AUTO_FREE char *folder = path_join(git, "lfs");
	AUTO_FREE char *store = shell_quoted(folder);
	AUTO_FREE char *clean = mem_format(BORROW_PROGRAM " " LFS_FILTER_CLEAN " %s", store);
	AUTO_FREE char *smudge = mem_format(BORROW_PROGRAM " " LFS_FILTER_SMUDGE
							   " %s " BORROW_OBJECTS "/lfs/objects",
					    store);

	if (!is_printable(git))
		return;
	buffer_add_text(&borrow->config, "[filter \"lfs\"]\n\tclean = ");
	add_quoted(&borrow->config, clean);
	buffer_add_text(&borrow->config, "\n\tsmudge = ");
	add_quoted(&borrow->config, smudge);
	/* With a configuration that the user shows, git-lfs runs; it has no network. */
	buffer_add_text(&borrow->config,
			"\n\trequired = true\n[lfs]\n\tskipdownloaderrors = true\n");
}

void borrow_release(struct borrow *borrow)
{
	free(borrow->git);
	free(borrow->common);
	free(borrow->lfs);
	list_release(&borrow->lenders);
	buffer_release(&borrow->config);
	*borrow = (struct borrow){ 0 };
}
