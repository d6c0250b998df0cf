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
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MOST_BYTES = 1 << 20, MOST_HOSTS = 64, TOOL_MS = 10000 };

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* A part of a file that belongs to a tool itself, with the hosts that it uses by default. */
struct own_file {
	const char *path; /* a pattern; "~/" is the home */
	const char *from, *until;
	const char *key; /* precedes a host without a URL; or NULL */
};

/* The configuration of a tool, and which of its lines name hosts. */
struct set {
	const char *name;
	const char *remedy;           /* how the user configures a host */
	const char *const *variables; /* or NULL */
	const char *const
		*files; /* "~/" is the home, "./" the project; the last part may be a pattern */
	const char *section;      /* only sections whose header starts with this; NULL: all */
	const char *const *keys;  /* NULL: all URLs */
	bool xml;                 /* its comments, with examples in them, do not count */
	const char *const *hosts; /* of a service, not of a tool; or NULL */

	/* The tool's default, if nothing is configured: a command that prints it, with the keys of
	 * its lines, and files; or NULL. */
	const char *const *command;
	const char *const *command_keys;
	const struct own_file *own_files; /* the last one has a NULL path */
	/* A host that begins with the first word has a sibling with the second one; or NULL. */
	const char *const *sibling;
};

#define PIP_INDEX(folder)                                                             \
	{                                                                             \
		folder "/pip/_internal/models/index.py", "PyPI = PackageIndex(", ")", \
			"file_storage_domain="                                        \
	}
static const struct own_file pip_files[] = {
	PIP_INDEX("~/.local/lib/python3*/site-packages"),
	PIP_INDEX("~/.pyenv/versions/*/lib/python3*/site-packages"),
	PIP_INDEX("/usr/lib/python3*/dist-packages"),
	PIP_INDEX("/usr/lib/python3*/site-packages"),
	PIP_INDEX("/usr/local/lib/python3*/site-packages"),
	PIP_INDEX("/usr/local/lib/python3*/dist-packages"),
	{ 0 },
};

static const struct own_file cargo_files[] = {
	{ "~/.rustup/toolchains/*/bin/cargo", "sparse+https://index.", "/", NULL },
	{ "/usr/bin/cargo", "sparse+https://index.", "/", NULL },
	{ "/usr/local/rustup/toolchains/*/bin/cargo", "sparse+https://index.", "/", NULL },
	{ 0 },
};

static const struct own_file composer_files[] = {
	{ "/usr/share/php/Composer/Config.php", "$defaultRepositories", "]", NULL },
	{ "/usr/local/bin/composer", "$defaultRepositories", "]", NULL },
	{ "/usr/bin/composer", "$defaultRepositories", "]", NULL },
	{ 0 },
};

#define PLAYWRIGHT_REGISTRY(folder)                                                             \
	{                                                                                       \
		folder "/lib/server/registry/index.js", "PLAYWRIGHT_CDN_MIRRORS = [", "]", NULL \
	}
#define PLAYWRIGHT_MODULES(folder)                                                      \
	PLAYWRIGHT_REGISTRY(folder "/playwright-core"),                                 \
		PLAYWRIGHT_REGISTRY(folder "/playwright/node_modules/playwright-core"), \
		PLAYWRIGHT_REGISTRY(folder "/@playwright/*/node_modules/playwright-core")
static const struct own_file playwright_files[] = {
	PLAYWRIGHT_MODULES("~/.nvm/versions/node/*/lib/node_modules"),
	PLAYWRIGHT_MODULES("~/.npm/_npx/*/node_modules"),
	PLAYWRIGHT_REGISTRY("~/.local/lib/python3*/site-packages/playwright/driver/package"),
	PLAYWRIGHT_MODULES("/usr/lib/node_modules"),
	PLAYWRIGHT_MODULES("/usr/local/lib/node_modules"),
	PLAYWRIGHT_REGISTRY("/usr/lib/python3*/dist-packages/playwright/driver/package"),
	PLAYWRIGHT_REGISTRY("/usr/local/lib/python3*/*-packages/playwright/driver/package"),
	{ 0 },
};

/* The super POM, which is in one of Maven's archives. */
#define MAVEN_DEFAULT                                                                           \
	LIST("sh", "-c",                                                                        \
	     "for jar in /usr/share/maven*/lib/maven-model-builder-*.jar "                      \
	     "/opt/*maven*/lib/maven-model-builder-*.jar "                                      \
	     "\"$HOME\"/.sdkman/candidates/maven/*/lib/maven-model-builder-*.jar; do "          \
	     "[ -e \"$jar\" ] && exec unzip -p \"$jar\" org/apache/maven/model/pom-4.0.0.xml; " \
	     "done")

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
	  .keys = LIST("index", "find-links", "url"),
	  .own_files = pip_files },
	{ .name = "cargo",
	  .remedy = "a [source] with its registry in ~/.cargo/config.toml",
	  .variables = LIST("CARGO_REGISTRIES_CRATES_IO_INDEX"),
	  .files = LIST("~/.cargo/config.toml", "~/.cargo/config"),
	  .keys = LIST("registry", "index"),
	  .own_files = cargo_files,
	  /* cargo is told by the index that archives are beside it. */
	  .sibling = LIST("index.", "static.") },
	{ .name = "go",
	  .remedy = "go env -w GOPROXY=URL",
	  .variables = LIST("GOPROXY"),
	  .files = LIST("~/.config/go/env"),
	  .keys = LIST("GOPROXY"),
	  .command = LIST("go", "env", "GOPROXY") },
	{ .name = "maven",
	  .remedy = "a <mirror> with its <url> in ~/.m2/settings.xml",
	  .files = LIST("~/.m2/settings.xml", "/etc/maven/settings.xml"),
	  .keys = LIST("<url>"),
	  .xml = true,
	  .command = MAVEN_DEFAULT,
	  .command_keys = LIST("<url>") },
	/* mavenCentral() of Gradle is Maven's own default. */
	{ .name = "gradle",
	  .remedy = "repositories in ~/.gradle/init.d/*.gradle",
	  .files = LIST("~/.gradle/init.gradle", "~/.gradle/init.gradle.kts",
			"~/.gradle/init.d/*.gradle", "~/.gradle/init.d/*.kts"),
	  .keys = LIST("url", "uri"),
	  .command = MAVEN_DEFAULT,
	  .command_keys = LIST("<url>") },
	{ .name = "gem",
	  .remedy = "gem sources --add URL",
	  .files = LIST("~/.gemrc", "/etc/gemrc", "~/.bundle/config"),
	  .command = LIST("gem", "sources") },
	{ .name = "composer",
	  .remedy = "composer config --global repositories.NAME composer URL",
	  .files = LIST("~/.config/composer/config.json", "~/.composer/config.json"),
	  .keys = LIST("url"),
	  .own_files = composer_files },
	{ .name = "nuget",
	  .remedy = "dotnet nuget add source URL",
	  .files = LIST("~/.nuget/NuGet/NuGet.Config", "~/.config/NuGet/NuGet.Config"),
	  .keys = LIST("value"),
	  .xml = true,
	  .command = LIST("dotnet", "nuget", "list", "source") },
	{ .name = "playwright",
	  .remedy = "the variable PLAYWRIGHT_DOWNLOAD_HOST",
	  .variables = LIST("PLAYWRIGHT_DOWNLOAD_HOST"),
	  .files = LIST(NULL),
	  .own_files = playwright_files },
	{ .name = "github",
	  .files = LIST(NULL),
	  .hosts = LIST("github.com", "github.com:22", "api.github.com", "codeload.github.com",
			"raw.githubusercontent.com", "objects.githubusercontent.com",
			"release-assets.githubusercontent.com") },
	/* `git submodule init` copies URLs from the repository's .gitmodules to other sections. */
	{ .name = "git-remotes",
	  .remedy = "git remote add origin URL",
	  .files = LIST("./.git/config"),
	  .section = "[remote ",
	  .keys = LIST("url") },
};

static const struct set *find_set(const char *name)
{
	if (strcmp(name, "pypi") == 0)
		name = "pip";
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

char *hosts_names(void)
{
	AUTO_BUFFER struct buffer names = BUFFER_INIT(4096);

	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		buffer_printf(&names, "%s, ", sets[i].name);
	buffer_add_text(&names, "pypi");
	return mem_dup(buffer_text(&names));
}

static void add_host(struct list *hosts, const char *host, size_t size)
{
	AUTO_FREE char *text = strndup(host, size);

	for (char *at = text; at && *at; at++)
		*at = (char)tolower((unsigned char)*at);
	/* Maven's own settings send plain HTTP to 0.0.0.0, so that nobody uses it. */
	if (text && *text && strcmp(text, "0.0.0.0") != 0 && !list_has(hosts, text) &&
	    hosts->count < MOST_HOSTS)
		list_add(hosts, text);
}

/* Adds the host of a URL from after its "://"; ssh defaults to port 22. */
static void add_url(struct list *hosts, const char *rest, bool ssh)
{
	size_t size = strcspn(rest, "/ \t\"',|?#<>");
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

/* Blanks the comments of XML. */
static void strip_comments(char *text)
{
	for (char *at = text; (at = strstr(at, "<!--"));) {
		char *end = strstr(at, "-->");

		memset(at, ' ', end ? (size_t)(end + 3 - at) : strlen(at));
	}
}

static void read_text(const char *text, const struct set *set, struct list *hosts)
{
	AUTO_FREE char *copy = mem_dup(text);

	if (set->xml)
		strip_comments(copy);
	hosts_of_text(copy, set->section, set->keys, hosts);
}

static void read_file(const char *path, const struct set *set, struct list *hosts)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(MOST_BYTES);
	AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    fd_read_all(fd, &text) == 0)
		read_text(buffer_text(&text), set, hosts);
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

/* Runs the tool. In the folder / it finds no configuration of a project. */
static void run_tool(const char *const *command, const char *const *keys, struct list *hosts)
{
	enum { MOST_WORDS = 16 };
	AUTO_BUFFER struct buffer text = BUFFER_INIT(MOST_BYTES);
	AUTO_FREE char *path = safe_path();
	const char *arguments[MOST_WORDS] = { "/usr/bin/env", path };

	for (size_t i = 2; *command && i < MOST_WORDS - 1; i++)
		arguments[i] = *command++;
	if (process_output(arguments[0], (char *const *)arguments, env_all(), TOOL_MS, &text) == 0)
		hosts_of_text(buffer_text(&text), NULL, keys, hosts);
}

/* Adds the host after the key, which may be in quotes. */
static void add_bare(const char *text, const char *key, struct list *hosts)
{
	const char *at = strstr(text, key);

	if (!at)
		return;
	at += strlen(key);
	at += strspn(at, " \"'");
	add_host(hosts, at, strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789.-"));
}

void hosts_of_part(const char *bytes, size_t size, const char *from, const char *until,
		   const char *key, struct list *hosts)
{
	enum { MOST_PART = 1024 };
	const char *part = memmem(bytes, size, from, strlen(from));
	size_t skip = strlen(from);
	size_t rest = part ? size - (size_t)(part - bytes) : 0;
	const char *end = part ? memmem(part + skip, rest - skip, until, strlen(until)) : NULL;

	if (!end || end - part > MOST_PART)
		return;

	AUTO_FREE char *text = strndup(part, (size_t)(end - part));

	hosts_of_text(text, NULL, NULL, hosts);
	if (key)
		add_bare(text, key, hosts);
}

static void read_part(const char *path, const struct own_file *file, struct list *hosts)
{
	AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	char *bytes;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || !status.st_size)
		return;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return;
	hosts_of_part(bytes, (size_t)status.st_size, file->from, file->until, file->key, hosts);
	munmap(bytes, (size_t)status.st_size);
}

/* Reads the tool's own files, until one of them tells. */
static void read_own_files(const struct set *set, const char *home, struct list *hosts)
{
	size_t before = hosts->count;

	for (const struct own_file *at = set->own_files; at && at->path; at++) {
		AUTO_FREE char *pattern = at->path[0] == '~' ? path_join(home, at->path + 2)
							     : mem_dup(at->path);
		glob_t found;

		if ((at->path[0] == '~' && !*home) || glob(pattern, 0, NULL, &found) != 0)
			continue;
		for (size_t i = 0; i < found.gl_pathc && hosts->count == before; i++)
			read_part(found.gl_pathv[i], at, hosts);
		globfree(&found);
	}
}

static void add_siblings(const char *const *sibling, size_t from, struct list *hosts)
{
	for (size_t i = from, count = hosts->count; i < count; i++) {
		const char *rest = text_after_prefix(hosts->items[i], sibling[0]);
		AUTO_FREE char *host = rest ? mem_format("%s%s", sibling[1], rest) : NULL;

		if (host)
			add_host(hosts, host, strlen(host));
	}
}

/* Adds what the tool uses if nothing is configured. */
static void add_defaults(const struct set *set, const struct hosts_place *place, struct list *hosts)
{
	size_t before = hosts->count;

	for (const char *const *at = set->hosts; at && *at; at++)
		add_host(hosts, *at, strlen(*at));
	if (set->command && !place->foreign)
		run_tool(set->command, set->command_keys, hosts);
	read_own_files(set, place->home, hosts);
	if (set->sibling)
		add_siblings(set->sibling, before, hosts);
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
	if (hosts->count == before)
		add_defaults(set, place, hosts);
	if (hosts->count == before)
		return error_set(
			err,
			"allow %s: your configuration names no host for it, and no installed tool its "
			"default; allow the host itself (--allow HOST), or: %s",
			name, set->remedy);
	return 0;
}
