/* The programs and files that git's configuration names: see gitprograms.h. */
#include "gitconfig/gitprograms.h"

#include "gitconfig/gitconfig.h"
#include "gitconfig/gitdir.h"
#include "gitconfig/gitrelated.h"
#include "util/buffer.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/shell.h"
#include "util/text/text.h"
#include "util/textset.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* More than thousands of repositories need, but little enough to read quickly. */
enum { MOST_FILES = 20000, MOST_BYTES = 16 << 20, MOST_NAMED = 500000, MOST_ENTRIES = 200000 };

enum kind { INCLUDE, PLACE, COMMAND };

/* Matched in any subsection. */
static const struct key {
	const char *section, *key; /* in lower case; the key is a pattern */
	enum kind kind;
} keys[] = {
	{ "include", "path", INCLUDE },
	{ "includeif", "path", INCLUDE },
	{ "core", "hookspath", PLACE },
	{ "core", "attributesfile", PLACE },
	{ "core", "excludesfile", PLACE },
	{ "init", "templatedir", PLACE },
	{ "gpg", "allowedsignersfile", PLACE },
	{ "gpg", "revocationfile", PLACE },
	{ "instaweb", "modulepath", PLACE },
	{ "alias", "*", COMMAND },
	{ "browser", "cmd", COMMAND },
	{ "browser", "path", COMMAND },
	{ "core", "alternaterefscommand", COMMAND },
	{ "core", "askpass", COMMAND },
	{ "core", "editor", COMMAND },
	{ "core", "fsmonitor", COMMAND },
	{ "core", "gitproxy", COMMAND },
	{ "core", "pager", COMMAND },
	{ "core", "sshcommand", COMMAND },
	{ "credential", "helper", COMMAND },
	{ "diff", "command", COMMAND },
	{ "diff", "external", COMMAND },
	{ "diff", "textconv", COMMAND },
	{ "difftool", "cmd", COMMAND },
	{ "difftool", "path", COMMAND },
	{ "filter", "clean", COMMAND },
	{ "filter", "process", COMMAND },
	{ "filter", "smudge", COMMAND },
	{ "gc", "recentobjectshook", COMMAND },
	{ "gpg", "defaultkeycommand", COMMAND },
	{ "gpg", "program", COMMAND },
	{ "guitool", "cmd", COMMAND },
	{ "hook", "command", COMMAND },
	{ "imap", "tunnel", COMMAND },
	{ "instaweb", "browser", COMMAND },
	{ "instaweb", "httpd", COMMAND },
	{ "interactive", "difffilter", COMMAND },
	{ "man", "cmd", COMMAND },
	{ "man", "path", COMMAND },
	{ "merge", "driver", COMMAND },
	{ "mergetool", "cmd", COMMAND },
	{ "mergetool", "path", COMMAND },
	{ "pager", "*", COMMAND },
	{ "remote", "receivepack", COMMAND },
	{ "remote", "uploadpack", COMMAND },
	{ "sendemail", "*cmd", COMMAND },
	{ "sendemail", "smtpserver", COMMAND },
	{ "sequence", "editor", COMMAND },
	{ "submodule", "update", COMMAND },
	{ "svn", "authors-prog", COMMAND },
	{ "tar", "command", COMMAND },
	{ "trailer", "cmd", COMMAND },
	{ "trailer", "command", COMMAND },
	{ "uploadpack", "packobjectshook", COMMAND },
};

/* A configuration file, which may not exist. */
struct file {
	char *path;
	struct list includes; /* absolute */
	struct list places;   /* as written */
	struct list words;    /* of commands, as written */
	unsigned int round;   /* the last one that queued it */
	struct file *next;    /* in the queue */
};

struct gitprograms {
	char *home;
	struct list own; /* paths of the user's and the machine's configuration files */
	void *files;     /* a tree of struct file (tsearch) */
	struct gitrelated *related;
	struct textset searched; /* folders that were searched for symlinks */
	unsigned int round;      /* one for each git directory */
	size_t files_left, bytes_left, named_left, entries_left;
	struct file *next; /* the queue of this round */
};

/* Where paths are reported. */
struct report {
	struct gitprograms *programs;
	gitprograms_fn *found;
	void *context;
	struct error *err;
};

/* A file that is being read. */
struct reading {
	struct gitprograms *programs;
	struct file *file;
	struct error *err;
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

static void file_free(void *pointer)
{
	struct file *file = pointer;

	free(file->path);
	list_release(&file->includes);
	list_release(&file->places);
	list_release(&file->words);
	free(file);
}

struct gitprograms *gitprograms_new(const char *home)
{
	struct gitprograms *programs = mem_zero(sizeof *programs);
	AUTO_FREE char *chosen = env_config_folder("", false); /* by XDG_CONFIG_HOME */

	programs->home = mem_dup(home);
	programs->files_left = MOST_FILES;
	programs->bytes_left = MOST_BYTES;
	programs->named_left = MOST_NAMED;
	programs->entries_left = MOST_ENTRIES;
	programs->related = gitrelated_new();
	if (*home) {
		list_printf(&programs->own, "%s/.gitconfig", home);
		list_printf(&programs->own, "%s/.config/git/config", home);
	}
	if (chosen)
		list_printf(&programs->own, "%s/git/config", chosen);
	list_add(&programs->own, "/etc/gitconfig");
	return programs;
}

void gitprograms_free(struct gitprograms *programs)
{
	if (!programs)
		return;
	tdestroy(programs->files, file_free);
	gitrelated_free(programs->related);
	textset_release(&programs->searched);
	list_release(&programs->own);
	free(programs->home);
	free(programs);
}

static char *absolute(const struct gitprograms *programs, const char *path, const char *base)
{
	const char *at_home = text_after_prefix(path, "~/");

	if (!at_home)
		at_home = text_after_prefix(path, "$HOME/");
	if (at_home)
		return path_absolute(at_home, *programs->home ? programs->home : "/");
	return path_absolute(path, base);
}

static int spend_named(struct gitprograms *programs, size_t count, const char *path,
		       struct error *err)
{
	if (count > programs->named_left)
		return error_set(
			err,
			"git configuration files, including '%s', name more than %d paths and words; shorten them",
			path, MOST_NAMED);
	programs->named_left -= count;
	return 0;
}

/* ---- reading ---- */

/* Adds a word that may be a path or end in one: --option=PATH,
 * $(git rev-parse --show-toplevel)/PATH. */
static void add_word(struct list *words, const char *word)
{
	const char *sign = strchr(word, '=');
	const char *end = word + strlen(word);

	list_add(words, word);
	if (sign && sign[1])
		list_add(words, sign + 1);
	while (end > word && !strchr("$)}`", end[-1]))
		end--;
	if (end > word && (end = strchr(end, '/')) && end[strspn(end, "/")])
		list_add(words, end + strspn(end, "/"));
}

static void add_command(struct file *file, const char *command)
{
	struct list words = { 0 };

	shell_words(command + (*command == '!'), &words);
	for (size_t i = 0; i < words.count; i++)
		add_word(&file->words, words.items[i]);
	list_release(&words);
}

static void add_include(const struct gitprograms *programs, struct file *file, const char *value)
{
	AUTO_FREE char *folder = path_folder(file->path);
	AUTO_FREE char *path = absolute(programs, value, folder);

	list_add(&file->includes, path);
}

static const struct key *find_key(const struct gitconfig_entry *entry)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strcmp(keys[i].section, entry->section) == 0 &&
		    fnmatch(keys[i].key, entry->key, 0) == 0)
			return &keys[i];
	return NULL;
}

static size_t count_named(const struct file *file)
{
	return file->includes.count + file->places.count + file->words.count;
}

static int add_entry(void *context, const struct gitconfig_entry *entry)
{
	const struct reading *reading = context;
	struct file *file = reading->file;
	const struct key *key = *entry->value ? find_key(entry) : NULL;
	size_t before = count_named(file);

	if (!key)
		return 0;
	if (key->kind == INCLUDE)
		add_include(reading->programs, file, entry->value);
	else if (key->kind == PLACE)
		list_add(&file->places, entry->value);
	else
		add_command(file, entry->value);
	/* 1, because -1 would mean that the text is invalid. */
	return spend_named(reading->programs, count_named(file) - before, file->path,
			   reading->err) < 0
		       ? 1
		       : 0;
}

static int read_file(struct gitprograms *programs, struct file *file, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(programs->bytes_left);
	struct reading reading = { programs, file, err };

	if (fd_read_path(file->path, &text) < 0) {
		if (errno != EFBIG)
			return 0;
		return error_set(
			err,
			"git configuration files, including '%s', exceed %d MB in total; shorten them",
			file->path, MOST_BYTES >> 20);
	}
	programs->bytes_left -= text.used;
	/* Git does not obey anything after a syntax error either. */
	return gitconfig_each(buffer_text(&text), text.used, add_entry, &reading) > 0 ? -1 : 0;
}

/* Returns the file at a path, reading it on first use, or NULL with err set. */
static struct file *get_file(struct gitprograms *programs, const char *path, struct error *err)
{
	const struct file wanted = { .path = (char *)path };
	struct file *const *known = tfind(&wanted, &programs->files, by_path);
	struct file *file;

	if (known)
		return *known;
	if (!programs->files_left) {
		error_set(
			err,
			"git would read more than %d configuration files, including '%s'; remove some",
			MOST_FILES, path);
		return NULL;
	}
	programs->files_left--;
	file = mem_zero(sizeof *file);
	file->path = mem_dup(path);
	if (!tsearch(file, &programs->files, by_path))
		abort();
	return read_file(programs, file, err) < 0 ? NULL : file;
}

/* ---- one git directory ---- */

/* Queues a configuration file, once in each round. */
static int queue(struct gitprograms *programs, const char *path, struct error *err)
{
	struct file *file = get_file(programs, path, err);

	if (!file)
		return -1;
	if (file->round != programs->round) {
		file->round = programs->round;
		file->next = programs->next;
		programs->next = file;
	}
	return 0;
}

static int queue_in(struct gitprograms *programs, const char *folder, const char *name,
		    struct error *err)
{
	AUTO_FREE char *path = path_join(folder, name);

	return queue(programs, path, err);
}

/* Returns whether a word of a command names a file. A missing one must look like a path, unlike
 * "clean" in "git-lfs clean". */
static bool is_file(const char *word, const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0)
		return S_ISREG(status.st_mode);
	return errno == ENOENT && strpbrk(word, "/.");
}

static bool is_link(const char *path, const struct dirent *entry)
{
	struct stat status;

	return entry->d_type == DT_LNK || (entry->d_type == DT_UNKNOWN &&
					   lstat(path, &status) == 0 && S_ISLNK(status.st_mode));
}

static int report_links(const struct report *report, const char *folder)
{
	size_t *left = &report->programs->entries_left;
	DIR *dir = textset_add(&report->programs->searched, folder) ? opendir(folder) : NULL;
	int result = 0;

	for (struct dirent *entry; dir && result == 0 && (entry = readdir(dir));) {
		AUTO_FREE char *path = path_join(folder, entry->d_name);

		if (!*left)
			result = error_set(
				report->err,
				"git directories and folders of hooks, including '%s', have more than %d "
				"entries; remove some",
				folder, MOST_ENTRIES);
		else
			(*left)--;
		if (is_link(path, entry))
			report->found(report->context, path);
	}
	if (dir)
		closedir(dir);
	return result;
}

/* Reports the symlinks where git reads and executes files: in a git directory, a template of one,
 * or a folder of hooks. */
static int report_all_links(const struct report *report, const char *folder)
{
	static const char *const inner[] = { "hooks", "info" };

	if (report_links(report, folder) < 0)
		return -1;
	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
		AUTO_FREE char *path = path_join(folder, inner[i]);

		if (report_links(report, path) < 0)
			return -1;
	}
	return 0;
}

/* Reports and queues configuration files that may be outside the git directory. */
static int queue_all(const struct report *report, const struct list *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		report->found(report->context, paths->items[i]);
		if (queue(report->programs, paths->items[i], report->err) < 0)
			return -1;
	}
	return 0;
}

static int report_places(const struct report *report, const struct list *places,
			 const char *work_tree)
{
	for (size_t i = 0; i < places->count; i++) {
		AUTO_FREE char *path = absolute(report->programs, places->items[i], work_tree);

		report->found(report->context, path);
		if (report_all_links(report, path) < 0)
			return -1;
	}
	return 0;
}

static int report_file(const struct report *report, const struct file *file, const char *work_tree)
{
	if (spend_named(report->programs, count_named(file), file->path, report->err) < 0 ||
	    queue_all(report, &file->includes) < 0 ||
	    report_places(report, &file->places, work_tree) < 0)
		return -1;
	for (size_t i = 0; i < file->words.count; i++) {
		AUTO_FREE char *path = absolute(report->programs, file->words.items[i], work_tree);

		if (is_file(file->words.items[i], path))
			report->found(report->context, path);
	}
	return 0;
}

/* Reports what one git directory, used with this work tree, makes git obey. */
static int report_directory(void *context, const char *git, const char *work_tree,
			    struct error *err)
{
	const struct report *report = context;
	struct gitprograms *programs = report->programs;
	AUTO_FREE char *common = gitdir_pointer(git, "commondir", "");

	programs->round++;
	programs->next = NULL;
	if (report_all_links(report, git) < 0 ||
	    queue_in(programs, common ? common : git, "config", err) < 0 ||
	    queue_in(programs, git, "config.worktree", err) < 0 ||
	    queue_all(report, &programs->own) < 0)
		return -1;
	for (struct file *file; (file = programs->next);) {
		programs->next = file->next;
		if (report_file(report, file, work_tree) < 0)
			return -1;
	}
	return 0;
}

int gitprograms_each(struct gitprograms *programs, const char *git, const char *work_tree,
		     gitprograms_fn *found, void *context, struct error *err)
{
	struct report report = { programs, found, context, err };

	return gitrelated_each(programs->related, git, work_tree, report_directory, &report, err);
}
