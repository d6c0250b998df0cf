/* Hosts of the user's tools: see hosts.h. */
#include "project/hosts.h"

#include "util/buffer.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/text/text.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { MOST_BYTES = 1 << 20, MOST_HOSTS = 64, TOOL_MS = 10000 };

/* The configuration of a tool, and which of its lines name hosts. */
struct set {
	const char *name;
	const char *remedy;           /* how the user configures a host */
	const char *const *variables; /* or NULL */
	const char *const
		*files; /* "~/" is the home, "./" the project; the last part may be a pattern */
	const char *section;     /* only sections whose header starts with this; NULL: all */
	const char *const *keys; /* NULL: all URLs */
	const char *const
		*command; /* prints the tool's default if nothing is configured; or NULL */
};

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const struct set sets[] = {
	{ .name = "npm",
	  .remedy = "npm config set registry URL",
	  .variables = LIST("npm_config_registry", "NPM_CONFIG_REGISTRY"),
	  .files = LIST("~/.npmrc", "~/.yarnrc", "~/.yarnrc.yml", "~/.bunfig.toml", "/etc/npmrc",
			"/usr/etc/npmrc", "/usr/local/etc/npmrc"),
	  .keys = LIST("registry", "npmRegistryServer"),
	  .command = LIST("npm", "config", "get", "registry") },
	{ .name = "apt",
	  .remedy = "a line in /etc/apt/sources.list",
	  .files = LIST("/etc/apt/sources.list", "/etc/apt/sources.list.d/*.list",
			"/etc/apt/sources.list.d/*.sources") },
	{ .name = "pip",
	  .remedy = "pip config set global.index-url URL",
	  .variables = LIST("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL",
			    "UV_DEFAULT_INDEX"),
	  .files = LIST("~/.config/pip/pip.conf", "~/.pip/pip.conf", "/etc/pip.conf",
			"/etc/xdg/pip/pip.conf", "~/.config/uv/uv.toml"),
	  .keys = LIST("index", "find-links", "url") },
	{ .name = "cargo",
	  .remedy = "a [source] with its registry in ~/.cargo/config.toml",
	  .variables = LIST("CARGO_REGISTRIES_CRATES_IO_INDEX"),
	  .files = LIST("~/.cargo/config.toml", "~/.cargo/config"),
	  .keys = LIST("registry", "index") },
	{ .name = "go",
	  .remedy = "go env -w GOPROXY=URL",
	  .variables = LIST("GOPROXY"),
	  .files = LIST("~/.config/go/env"),
	  .keys = LIST("GOPROXY"),
	  .command = LIST("go", "env", "GOPROXY") },
	/* `git submodule init` copies URLs from the repository's .gitmodules to other sections. */
	{ .name = "git-remotes",
	  .remedy = "git remote add origin URL",
	  .files = LIST("./.git/config"),
	  .section = "[remote ",
	  .keys = LIST("url") },
};

static const struct set *find_set(const char *name)
{
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		if (strcmp(sets[i].name, name) == 0)
			return &sets[i];
	return NULL;
}

bool hosts_is_set(const char *name)
{
	return find_set(name);
}

const char *hosts_nearest_set(const char *name)
{
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		if (text_distance(sets[i].name, name) == 1)
			return sets[i].name;
	return NULL;
}

static void add_host(struct list *hosts, const char *host, size_t size)
{
	AUTO_FREE char *text = strndup(host, size);

	for (char *at = text; at && *at; at++)
		*at = (char)tolower((unsigned char)*at);
	if (text && *text && !list_has(hosts, text) && hosts->count < MOST_HOSTS)
		list_add(hosts, text);
}

/* Adds the host of a URL from after its "://"; ssh defaults to port 22. */
static void add_url(struct list *hosts, const char *rest, bool ssh)
{
	size_t size = strcspn(rest, "/ \t\"',|?#>");
	const char *at = memrchr(rest, '@', size);

	if (at) {
		size -= (size_t)(at + 1 - rest);
		rest = at + 1;
	}

	const char *port = ssh && size && !memchr(rest, ':', size) ? ":22" : "";
	AUTO_FREE char *host = mem_format("%.*s%s", (int)size, rest, port);

	add_host(hosts, host, strlen(host));
}

/* Adds the host of git's short form of ssh: git@host:path. */
static void add_scp(struct list *hosts, const char *value)
{
	const char *at = strchr(value, '@');
	const char *colon = at ? strchr(at, ':') : NULL;
	const char *foreign = strpbrk(value, " \t/\"");

	if (!colon || (foreign && foreign < colon))
		return;

	AUTO_FREE char *host = mem_format("%.*s:22", (int)(colon - at - 1), at + 1);

	add_host(hosts, host, strlen(host));
}

static bool has_key(const char *line, size_t size, const char *const *keys)
{
	AUTO_FREE char *head = strndup(line, size);

	if (!keys)
		return true;
	for (; head && *keys; keys++)
		if (strstr(head, *keys))
			return true;
	return false;
}

static void read_line(char *line, const char *const *keys, struct list *hosts)
{
	char *first = line + strspn(line, " \t");
	char *url = strstr(first, "://");

	if (*first == '#' || *first == ';')
		return;
	if (!url && keys && has_key(first, strcspn(first, "="), keys) && strchr(first, '=')) {
		const char *value = strchr(first, '=') + 1;

		add_scp(hosts, value + strspn(value, " \t"));
	}
	while (url && has_key(first, (size_t)(url - first), keys)) {
		add_url(hosts, url + 3, url - first >= 3 && strncmp(url - 3, "ssh", 3) == 0);
		url = strstr(url + 3, "://");
	}
}

void hosts_of_text(const char *text, const char *section, const char *const *keys,
		   struct list *hosts)
{
	AUTO_FREE char *copy = mem_dup(text);
	char *rest = copy;
	bool inside = !section;

	for (char *line; (line = strsep(&rest, "\r\n"));) {
		char *first = line + strspn(line, " \t");

		if (section && *first == '[')
			inside = strncasecmp(first, section, strlen(section)) == 0;
		if (inside)
			read_line(line, keys, hosts);
	}
}

static void read_file(const char *path, const struct set *set, struct list *hosts)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(MOST_BYTES);
	AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    fd_read_all(fd, &text) == 0)
		hosts_of_text(buffer_text(&text), set->section, set->keys, hosts);
}

/* Reads a file, or all files that match a pattern. */
static void read_files(const char *path, const struct set *set, struct list *hosts)
{
	const char *pattern = path_name(path);
	AUTO_FREE char *folder = strndup(path, (size_t)(pattern - path));
	DIR *dir;

	if (!strchr(pattern, '*')) {
		read_file(path, set, hosts);
		return;
	}
	dir = folder ? opendir(folder) : NULL;
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		AUTO_FREE char *file = path_join(folder, entry->d_name);

		if (fnmatch(pattern, entry->d_name, FNM_PERIOD) == 0)
			read_file(file, set, hosts);
	}
	if (dir)
		closedir(dir);
}

/* A PATH of folders that only root can write to. The caller frees. */
static char *safe_path(void)
{
	static const char *const folders[] = { "/usr/local/bin", "/usr/bin", "/bin" };
	AUTO_BUFFER struct buffer path = BUFFER_INIT(4096);

	buffer_add_text(&path, "PATH=/nonexistent");
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		struct stat status;

		if (stat(folders[i], &status) == 0 && status.st_uid == 0 &&
		    !(status.st_mode & (S_IWGRP | S_IWOTH)))
			buffer_printf(&path, ":%s", folders[i]);
	}
	return mem_dup(buffer_text(&path));
}

/* Runs the tool in the root folder, where it finds no configuration of a project. */
static void run_tool(const char *const *command, struct list *hosts)
{
	enum { MOST_WORDS = 16 };
	AUTO_BUFFER struct buffer text = BUFFER_INIT(MOST_BYTES);
	AUTO_FREE char *path = safe_path();
	const char *arguments[MOST_WORDS] = { "/usr/bin/env", "-C", "/", path };

	for (size_t i = 4; *command && i < MOST_WORDS - 1; i++)
		arguments[i] = *command++;
	if (process_output((char *const *)arguments, TOOL_MS, &text) == 0)
		hosts_of_text(buffer_text(&text), NULL, NULL, hosts);
}

int hosts_find(const char *name, const struct hosts_place *place, struct list *hosts,
	       struct error *err)
{
	const struct set *set = find_set(name);
	size_t before = hosts->count;

	for (const char *const *at = set->variables; at && *at && !place->foreign; at++)
		if (env_get(*at))
			hosts_of_text(env_get(*at), NULL, NULL, hosts);
	for (const char *const *at = set->files; *at; at++) {
		const char *base = (*at)[0] == '~' ? place->home : place->project;
		AUTO_FREE char *path = (*at)[0] == '/' ? mem_dup(*at) : path_join(base, *at + 2);

		if ((*at)[0] != '~' || place->home[0])
			read_files(path, set, hosts);
	}
	if (hosts->count == before && set->command && !place->foreign)
		run_tool(set->command, hosts);
	if (hosts->count == before)
		return error_set(
			err,
			"allow %s: your configuration names no host for it; allow the host itself (--allow HOST), or: %s",
			name, set->remedy);
	return 0;
}
