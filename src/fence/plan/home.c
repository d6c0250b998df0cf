/* Entries of the home folder: see home.h. */
#include "fence/plan/home.h"

#include "fence/plan/defaults.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* A desktop user has some hundreds. */
enum { MOST_FOLDERS = 2000, MOST_ENTRIES = 100000 };

/* Ignores case, as some file systems do. */
static unsigned int hash(const char *name, size_t size)
{
	uint32_t sum = 0x811c9dc5;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ (uint32_t)tolower((unsigned char)name[i])) * 0x01000193;
	return (sum ^ sum >> 16) % (sizeof(((struct home *)0)->seen) * 8);
}

static bool is_ascii(const char *name)
{
	while (*name && (unsigned char)*name < 0x80)
		name++;
	return !*name;
}

void home_read(const char *path, struct home *ret_home)
{
	struct home home = { 0 };
	struct statfs status;
	DIR *dir = opendir(path);

	/* An automounter may not list what it would mount. */
	if (!dir) {
		home.unsure = errno != ENOENT;
	} else if (fstatfs(dirfd(dir), &status) < 0 || status.f_type == AUTOFS_SUPER_MAGIC) {
		home.unsure = true;
	} else {
		errno = 0;
		for (struct dirent *entry; (entry = readdir(dir));) {
			unsigned int bit = hash(entry->d_name, strlen(entry->d_name));

			home.seen[bit / 64] |= 1ULL << bit % 64;
			/* A non-ASCII name may have other spellings. */
			home.unsure |= !is_ascii(entry->d_name);
		}
		home.unsure |= errno != 0;
	}
	if (dir)
		closedir(dir);
	*ret_home = home;
}

bool home_may_have(const struct home *home, const char *place)
{
	unsigned int bit = hash(place, strcspn(place, "/"));

	return home->unsure || home->seen[bit / 64] & 1ULL << bit % 64;
}

/* ---- searching for symlinks ---- */

/* Places to search, and how many levels of folders. None may contain a cache within this depth. */
static const struct place {
	const char *path;
	unsigned int levels;
} places[] = {
	{ ".local/bin", 1 },
	{ "bin", 1 },
	{ ".ssh", 2 },
	{ ".config/autostart", 1 },
	{ ".config/systemd", 4 },
	{ ".config/environment.d", 1 },
	{ ".config/fish", 3 },
	{ ".config/zsh", 3 },
	{ ".config/bash", 2 },
	{ ".config/nushell", 3 },
	{ ".config/git", 3 },
	{ ".config/nvim", 4 },
	{ ".config/vim", 3 },
	{ ".config/emacs", 2 },
	{ ".config/doom", 2 },
	{ ".config/direnv", 3 },
	{ ".config/mise", 3 },
	{ ".config/ringfence", 2 },
	{ ".config/tmux", 2 },
	{ ".config/i3", 3 },
	{ ".config/sway", 3 },
	{ ".config/hypr", 3 },
	{ ".config/waybar", 3 },
	{ ".config/niri", 2 },
	{ ".config/river", 2 },
	{ ".config/bspwm", 3 },
	{ ".config/sxhkd", 2 },
	{ ".config/awesome", 3 },
	{ ".config/qtile", 3 },
	{ ".config/openbox", 2 },
	{ ".config/herbstluftwm", 2 },
	{ ".config/plasma-workspace", 2 },
	{ ".config/Code/User", 2 },
	{ ".config/VSCodium/User", 2 },
	{ ".config/Cursor/User", 2 },
	{ ".config/opencode", 3 },
	{ ".local/share/applications", 2 },
	{ ".local/share/dbus-1", 2 },
	{ ".local/share/systemd", 4 },
	{ ".local/share/nautilus/scripts", 2 },
	{ ".local/share/gnome-shell/extensions", 2 },
	{ ".vim", 3 },
	{ ".emacs.d", 2 },
	{ ".doom.d", 2 },
	{ ".zsh", 3 },
	{ ".zshrc.d", 1 },
	{ ".bashrc.d", 1 },
	{ ".bash_completion.d", 1 },
	{ ".oh-my-zsh/custom", 3 },
	{ ".tmux", 2 },
	{ ".xmonad", 2 },
	{ ".i3", 2 },
	{ ".fluxbox", 1 },
	{ ".claude", 2 },
	{ ".codex", 2 },
	{ ".gemini", 2 },
	{ ".cursor", 1 },
	{ ".vscode", 1 },
	{ ".cargo", 1 },
	{ ".gradle/init.d", 1 },
	{ ".ipython/profile_default", 2 },
	{ ".config", 2 }, /* the largest comes last */
};

struct search {
	const char *home;
	home_fn *found;
	void *context;
	const struct place *place; /* that is being searched */
	bool secret;
	size_t folders_left, entries_left;
	char *left_out;
};

/* Files in folders with credentials that are not secret. */
static bool is_public(const char *relative)
{
	static const char *const names[] = { ".ssh/config", ".ssh/config.d", ".ssh/rc",
					     ".ssh/authorized_keys", ".ssh/known_hosts" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t size = strlen(names[i]);

		if (strncmp(relative, names[i], size) == 0 &&
		    (!relative[size] || relative[size] == '/'))
			return true;
	}
	return fnmatch(".ssh/*.pub", relative, FNM_PATHNAME) == 0;
}

/* Returns the path as the tables name it. XDG_CONFIG_HOME may be anywhere. */
static const char *in_home(const struct search *search, const char *path)
{
	const char *inner = path + strlen(search->home);

	return path_within(path, search->home) && *inner ? inner + 1 : path;
}

static void report(const struct search *search, const char *path)
{
	search->found(search->context, path, search->secret && !is_public(in_home(search, path)));
}

/* Returns whether a folder of an unknown program is likely to contain what it executes. */
static bool is_for_programs(const char *name)
{
	static const char *const names[] = { "*.d",     "conf",   "config", "bin",      "script*",
					     "hook*",   "plugin", "lua",    "plugins",  "user",
					     "modules", "env",    "custom", "functions" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (fnmatch(names[i], name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

/* Returns whether another entry of the table searches this folder. */
static bool is_own_place(const struct search *search, const char *path)
{
	const char *relative = in_home(search, path);

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (&places[i] != search->place && strcmp(places[i].path, relative) == 0)
			return true;
	return false;
}

/* Returns the levels to search in a folder, given those that are left around it. */
static unsigned int levels_in(const struct search *search, const char *path, unsigned int levels)
{
	if (is_own_place(search, path))
		return 0;
	return levels > 1 ? levels - 1 : is_for_programs(path_name(path));
}

static void search_folder(struct search *search, int folder, const char *name, const char *path,
			  unsigned int levels);

static void search_entry(struct search *search, int folder, const struct dirent64 *entry,
			 const char *around, unsigned int levels)
{
	AUTO_FREE char *path = path_join(around, entry->d_name);
	unsigned char type = entry->d_type;
	struct stat status;

	if (type == DT_UNKNOWN && fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		type = (unsigned char)IFTODT(status.st_mode);
	if (type == DT_LNK)
		report(search, path);
	if (type == DT_LNK || type == DT_DIR)
		search_folder(search, folder, entry->d_name, path, levels_in(search, path, levels));
}

static bool is_worth(const struct dirent64 *entry)
{
	return (entry->d_type == DT_LNK || entry->d_type == DT_DIR ||
		entry->d_type == DT_UNKNOWN) &&
	       strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Reads with few system calls, because there are hundreds of folders. */
static void search_open(struct search *search, int fd, const char *path, unsigned int levels)
{
	char chunk[16384] __attribute__((aligned(8)));
	ssize_t size;

	while (!search->left_out && (size = getdents64(fd, chunk, sizeof chunk)) > 0)
		for (ssize_t at = 0; at < size;) {
			const struct dirent64 *entry = (const struct dirent64 *)(chunk + at);

			at += entry->d_reclen;
			if (search->entries_left)
				search->entries_left--;
			if (is_worth(entry))
				search_entry(search, fd, entry, path, levels);
		}
}

/* Searches a folder, or a symlink to one. */
static void search_folder(struct search *search, int folder, const char *name, const char *path,
			  unsigned int levels)
{
	AUTO_FD fd = -1;

	if (levels && !search->left_out)
		fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!search->folders_left || !search->entries_left) {
		search->left_out = mem_dup(path);
		return;
	}
	search->folders_left--;
	search_open(search, fd, path, levels);
}

/* Any symlink at home whose name begins with a dot may be configuration. */
static void search_top(struct search *search)
{
	DIR *dir = opendir(search->home);

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		AUTO_FREE char *path = NULL;

		if (entry->d_type != DT_LNK || entry->d_name[0] != '.' ||
		    strcmp(entry->d_name, ".cache") == 0)
			continue;
		path = path_join(search->home, entry->d_name);
		report(search, path);
	}
	if (dir)
		closedir(dir);
}

static bool is_secret_place(const char *place)
{
	for (const char *const *at = defaults_home_secrets; *at; at++)
		if (strcmp(*at, place) == 0)
			return true;
	return false;
}

static void search_place(struct search *search, const struct home *home, const struct place *place)
{
	AUTO_FREE char *path = NULL;

	if (!home_may_have(home, place->path))
		return;
	path = path_join(search->home, place->path);
	search->place = place;
	search->secret = is_secret_place(place->path);
	search_folder(search, AT_FDCWD, path, path, place->levels);
}

/* Searches the folder that replaces ~/.config, for those who have one. */
static void search_settings(struct search *search)
{
	AUTO_FREE char *settings = env_config_folder("", false); /* only XDG_CONFIG_HOME */
	AUTO_FREE char *usual = path_join(search->home, ".config");

	if (!settings || strcmp(settings, usual) == 0)
		return;
	search->secret = false;
	search->place = NULL;
	search_folder(search, AT_FDCWD, settings, settings, 3);
}

char *home_search(const char *path, const struct home *home, home_fn *found, void *context)
{
	struct search search = { .home = path,
				 .found = found,
				 .context = context,
				 .folders_left = MOST_FOLDERS,
				 .entries_left = MOST_ENTRIES };

	if (!*path)
		return NULL;
	search_top(&search);
	for (const char *const *at = defaults_home_secrets; *at; at++)
		search_place(&search, home, &(struct place){ *at, 1 });
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		search_place(&search, home, &places[i]);
	search_settings(&search);
	return search.left_out;
}
