/* What git obeys: see gitobey.h. */
#include "util/gitobey.h"

#include "util/buffer.h"
#include "util/fd.h"
#include "util/gitconf.h"
#include "util/mem.h"
#include "util/path.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Git itself follows ten includes, one behind the other. */
enum { CONFIG_BYTES = 1 << 20, POINTER_BYTES = 8192, DEEPEST = 10, MOST_FILES = 100 };

struct reading {
	const char *work_tree, *home;
	gitobey_fn *found;
	void *context;
	const char *file; /* that is being read */
	unsigned int depth, files;
};

char *gitobey_pointer(const char *folder, const char *name, const char *word)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(POINTER_BYTES);

	if (fd_read_path(path, &text) < 0 || strncmp(buffer_text(&text), word, strlen(word)) != 0)
		return NULL;

	const char *line = buffer_text(&text) + strlen(word);
	AUTO_FREE char *said = mem_format("%.*s", (int)strcspn(line, "\r\n"), line);

	return *said ? path_absolute(said, folder) : NULL;
}

char *gitobey_folder(const char *work_tree)
{
	AUTO_FREE char *path = path_join(work_tree, ".git");
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return mem_dup(path);
	return gitobey_pointer(work_tree, ".git", "gitdir: ");
}

static void read_config(struct reading *reading, const char *path);

static int take_entry(void *context, const struct gitconf_entry *entry)
{
	struct reading *reading = context;
	bool hooks = strcmp(entry->key, "hookspath") == 0;
	const char *file = reading->file;
	AUTO_FREE char *folder = mem_format("%.*s", (int)(path_name(file) - file), file);
	AUTO_FREE char *path = NULL;

	if ((!hooks && strcmp(entry->key, "path") != 0) || !*entry->value)
		return 0;
	path = strncmp(entry->value, "~/", 2) == 0
		       ? path_absolute(entry->value + 2, *reading->home ? reading->home : "/")
		       : path_absolute(entry->value, hooks ? reading->work_tree : folder);
	reading->found(reading->context, path);
	if (!hooks)
		read_config(reading, path);
	return 0;
}

static void read_config(struct reading *reading, const char *path)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(CONFIG_BYTES);
	const char *file = reading->file;

	if (reading->depth > DEEPEST || reading->files >= MOST_FILES ||
	    fd_read_path(path, &text) < 0)
		return;
	reading->file = path;
	reading->files++;
	reading->depth++;
	/* What is behind something that git does not understand it does not obey either. */
	gitconf_each(buffer_text(&text), text.used, take_entry, reading);
	reading->depth--;
	reading->file = file;
}

static void read_in(struct reading *reading, const char *folder, const char *name)
{
	AUTO_FREE char *path = path_join(folder, name);

	read_config(reading, path);
}

void gitobey_each(const char *git, const char *work_tree, const char *home, gitobey_fn *found,
		  void *context)
{
	struct reading reading = {
		.work_tree = work_tree, .home = home, .found = found, .context = context
	};
	AUTO_FREE char *common = gitobey_pointer(git, "commondir", "");
	const char *xdg = getenv("XDG_CONFIG_HOME");

	read_in(&reading, common ? common : git, "config");
	read_in(&reading, git, "config.worktree");
	if (*home) {
		read_in(&reading, home, ".gitconfig");
		read_in(&reading, home, ".config/git/config");
	}
	if (xdg && xdg[0] == '/')
		read_in(&reading, xdg, "git/config");
	read_config(&reading, "/etc/gitconfig");
}
