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

enum kind { INCLUDE, PLACE, COMMAND, REMOTE };

static const struct key {
	const char *section, *key; /* in lower case; the key is a pattern */
	enum kind kind;
	const char *subsection; /* NULL: any */
} keys[] = {
	{ "include", "path", INCLUDE, NULL },
	{ "includeif", "path", INCLUDE, NULL },
	{ "core", "hookspath", PLACE, NULL },
	{ "core", "attributesfile", PLACE, NULL },
	{ "core", "excludesfile", PLACE, NULL },
	{ "init", "templatedir", PLACE, NULL },
	{ "gpg", "allowedsignersfile", PLACE, NULL },
	{ "gpg", "revocationfile", PLACE, NULL },
	{ "instaweb", "modulepath", PLACE, NULL },
	{ "alias", "*", COMMAND, NULL },
	{ "annex", "*-command", COMMAND, NULL },
	{ "annex", "*-hook", COMMAND, NULL },
	{ "branchless", "*", COMMAND, "test.alias" },
	{ "browser", "cmd", COMMAND, NULL },
	{ "browser", "path", COMMAND, NULL },
	{ "core", "alternaterefscommand", COMMAND, NULL },
	{ "core", "askpass", COMMAND, NULL },
	{ "core", "editor", COMMAND, NULL },
	{ "core", "fsmonitor", COMMAND, NULL },
	{ "core", "gitproxy", COMMAND, NULL },
	{ "core", "pager", COMMAND, NULL },
	{ "core", "sshcommand", COMMAND, NULL },
	{ "credential", "helper", COMMAND, NULL },
	{ "diff", "command", COMMAND, NULL },
	{ "diff", "external", COMMAND, NULL },
	{ "diff", "textconv", COMMAND, NULL },
	{ "difftool", "cmd", COMMAND, NULL },
	{ "difftool", "path", COMMAND, NULL },
	{ "filter", "clean", COMMAND, NULL },
	{ "filter", "process", COMMAND, NULL },
	{ "filter", "smudge", COMMAND, NULL },
	{ "gc", "recentobjectshook", COMMAND, NULL },
	{ "gpg", "defaultkeycommand", COMMAND, NULL },
	{ "gpg", "program", COMMAND, NULL },
	{ "guitool", "cmd", COMMAND, NULL },
	{ "hook", "command", COMMAND, NULL },
	{ "imap", "tunnel", COMMAND, NULL },
	{ "instaweb", "browser", COMMAND, NULL },
	{ "instaweb", "httpd", COMMAND, NULL },
	{ "interactive", "difffilter", COMMAND, NULL },
	{ "lfs", "args", COMMAND, NULL },
	{ "lfs", "clean", COMMAND, NULL },
	{ "lfs", "path", COMMAND, NULL },
	{ "lfs", "smudge", COMMAND, NULL },
	{ "man", "cmd", COMMAND, NULL },
	{ "man", "path", COMMAND, NULL },
	{ "merge", "driver", COMMAND, NULL },
	{ "mergetool", "cmd", COMMAND, NULL },
	{ "mergetool", "path", COMMAND, NULL },
	{ "pager", "*", COMMAND, NULL },
	{ "remote", "annex-*", COMMAND, NULL },
	{ "remote", "pushurl", REMOTE, NULL },
	{ "remote", "receivepack", COMMAND, NULL },
	{ "remote", "uploadpack", COMMAND, NULL },
	{ "remote", "url", REMOTE, NULL },
	{ "sendemail", "*cmd", COMMAND, NULL },
	{ "sendemail", "smtpserver", COMMAND, NULL },
	{ "sequence", "editor", COMMAND, NULL },
	{ "submodule", "update", COMMAND, NULL },
	{ "svn", "authors-prog", COMMAND, NULL },
	{ "tar", "command", COMMAND, NULL },
	{ "trailer", "cmd", COMMAND, NULL },
	{ "trailer", "command", COMMAND, NULL },
	{ "uploadpack", "packobjectshook", COMMAND, NULL },
};

/* A configuration file, which may not exist. */
struct file {
	char *path;
	struct list includes; /* absolute */
	struct list places;   /* as written */
	struct list words;    /* of commands, as written */
	struct list below;    /* words below a folder: they count only if they exist */
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
	list_release(&file->below);
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

/* Folders that a command may enter or put into a variable: the latest ones. */
enum { MOST_FOLDERS = 4, LONGEST_FOLDER = 255 };

struct command {
	struct file *file;
	char *folders[MOST_FOLDERS]; /* or NULL */
	size_t next;                 /* of the folders: to replace */
	bool entering;               /* the next word is a folder */
};

/* Returns the path after the last expansion of a word, as in $(git rev-parse --show-toplevel)/PATH,
 * or NULL. */
static const char *after_expansion(const char *word)
{
	const char *end = word + strlen(word);

	while (end > word && !strchr("$)}`", end[-1]))
		end--;
	if (end == word || !(end = strchr(end, '/')))
		return NULL;
	end += strspn(end, "/");
	return *end ? end : NULL;
}

static bool has_folder(const struct command *command, const char *folder)
{
	for (size_t i = 0; i < MOST_FOLDERS; i++)
		if (command->folders[i] && strcmp(command->folders[i], folder) == 0)
			return true;
	return false;
}

static void add_folder(struct command *command, const char *folder)
{
	char **place = &command->folders[command->next % MOST_FOLDERS];

	if (strlen(folder) > LONGEST_FOLDER || has_folder(command, folder))
		return;
	free(*place);
	*place = mem_dup(folder);
	command->next++;
}

/* Reports whether a word is followed by options and a folder. */
static bool changes_folder(const char *word)
{
	return strcmp(word, "cd") == 0 || strcmp(word, "pushd") == 0 || strcmp(word, "-C") == 0;
}

/* Handles cd FOLDER. It may be relative to the one before. A folder that is known was entered by an
 * earlier form of the same words. */
static void enter_folder(struct command *command, const char *word)
{
	const char *last = command->folders[(command->next + MOST_FOLDERS - 1) % MOST_FOLDERS];
	const char *after = after_expansion(word);
	const char *folder = after ? after : word;
	AUTO_FREE char *inner = last && *folder != '/' ? path_join(last, folder) : NULL;

	if (has_folder(command, folder))
		return;
	add_folder(command, folder);
	if (inner)
		add_folder(command, inner);
}

/* Adds a path or word, and the same below each folder. */
static void add_path(struct command *command, const char *path)
{
	struct file *file = command->file;

	list_add(&file->words, path);
	for (size_t i = 0; i < MOST_FOLDERS; i++)
		if (command->folders[i] && *path != '/')
			list_printf(strpbrk(path, "/.") ? &file->words : &file->below, "%s/%s",
				    command->folders[i], path);
}

/* Returns the value in NAME=VALUE, --option=VALUE or NAME:-VALUE, or NULL. */
static const char *value_in(const char *word)
{
	const char *sign = strchr(word, '=');

	if (!sign && (sign = strstr(word, ":-")))
		sign++;
	return sign && sign[1] ? sign + 1 : NULL;
}

/* Adds a word that may be a path or end in one: --option=PATH, ${VARIABLE}/PATH. */
static void add_word(struct command *command, const char *word)
{
	const char *value = value_in(word);
	const char *after = after_expansion(word);

	add_path(command, word);
	if (value)
		add_path(command, value);
	if (after)
		add_path(command, after);
	if (value && *word != '-')
		add_folder(command, value);
	if (command->entering && *word != '-') {
		enter_folder(command, word);
		command->entering = false;
	} else {
		command->entering |= changes_folder(word);
	}
}

static size_t count_named(const struct file *file)
{
	return file->includes.count + file->places.count + file->words.count + file->below.count;
}

static void add_command(struct file *file, const char *line)
{
	struct command command = { .file = file };
	struct list words = { 0 };

	shell_words(line + (*line == '!'), &words);
	for (size_t i = 0; i < words.count && count_named(file) <= MOST_NAMED; i++)
		add_word(&command, words.items[i]);
	for (size_t i = 0; i < MOST_FOLDERS; i++)
		free(command.folders[i]);
	list_release(&words);
}

/* Adds the command of a remote that runs one: ext::COMMAND. */
static void add_remote(struct file *file, const char *url)
{
	const char *command = text_after_prefix(url, "ext::");

	if (command)
		add_command(file, command);
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
		    fnmatch(keys[i].key, entry->key, 0) == 0 &&
		    (!keys[i].subsection ||
		     (entry->subsection && strcmp(keys[i].subsection, entry->subsection) == 0)))
			return &keys[i];
	return NULL;
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
	else if (key->kind == REMOTE)
		add_remote(file, entry->value);
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

/* Reports the words of commands that name files. A missing file counts only if `missing` is set and
 * the word looks like a path, unlike "clean" in "git-lfs clean". */
static void report_words(const struct report *report, const struct list *words,
			 const char *work_tree, bool missing)
{
	for (size_t i = 0; i < words->count; i++) {
		AUTO_FREE char *path = absolute(report->programs, words->items[i], work_tree);
		struct stat status;
		bool counts = stat(path, &status) == 0 ? S_ISREG(status.st_mode)
						       : missing && errno == ENOENT &&
								 strpbrk(words->items[i], "/.");

		if (counts)
			report->found(report->context, path);
	}
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
	report_words(report, &file->words, work_tree, true);
	report_words(report, &file->below, work_tree, false);
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
