/* What a project is made of: see project.h. */
#include "project/project.h"

#include "util/buffer.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 4 << 20 };

static bool there(int folder, const char *name)
{
	return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Appends a file of the project. Returns 0, or -1 if it is none, or too large. */
static int read_file(int folder, const char *name, struct buffer *bytes)
{
	AUTO_FD fd = fd_openat2(folder, name, O_RDONLY | O_NONBLOCK, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return -1;
	return fd_read_all(fd, bytes);
}

/* Is the word among those before the colon of a rule? */
static bool names_target(const char *line, const char *target)
{
	size_t head = strcspn(line, ":=#\n");
	size_t size = strlen(target);

	if (line[0] == '\t' || line[head] != ':' || line[head + 1] == '=')
		return false;
	for (size_t at = 0; at < head;) {
		size_t word = strcspn(line + at, " \t:");

		if (word == size && strncmp(line + at, target, size) == 0)
			return true;
		at += word;
		at += strspn(line + at, " \t");
	}
	return false;
}

bool project_makefile_has(const char *text, const char *target)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (names_target(line, target))
			return true;
	}
	return false;
}

/* What `make` would be asked for; NULL: no such rule. */
static const char *make_check(int folder)
{
	static const char *const files[] = { "GNUmakefile", "Makefile", "makefile" };

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		AUTO_BUFFER struct buffer bytes = BUFFER_INIT(MOST_BYTES);

		if (read_file(folder, files[i], &bytes) < 0)
			continue;
		if (project_makefile_has(buffer_text(&bytes), "test"))
			return "make test";
		return project_makefile_has(buffer_text(&bytes), "check") ? "make check" : NULL;
	}
	return NULL;
}

/* Is there a test script, other than the one that npm writes into a new package? */
static bool has_test_script(int folder)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(MOST_BYTES);
	bool found = false;
	json_t *package;
	const char *script;

	if (read_file(folder, "package.json", &bytes) < 0)
		return false;
	package = json_loadb(bytes.data, bytes.used, 0, NULL);
	script = json_string_value(json_object_get(json_object_get(package, "scripts"), "test"));
	found = script && !strstr(script, "no test specified");
	json_decref(package);
	return found;
}

/* One of several tools, told by the file that it leaves; the last one has none. */
struct tool {
	const char *file;
	const char *check;
	const char *cache;
};

static const struct tool *which_tool(int folder, const struct tool *tools)
{
	while (tools->file && !there(folder, tools->file))
		tools++;
	return tools;
}

static void add_cache(struct project *project, const char *home, const char *cache)
{
	AUTO_FREE char *path = home[0] ? path_join(home, cache) : NULL;

	if (path && access(path, F_OK) == 0)
		list_printf(&project->caches, "~/%s", cache);
}

static void look_node(int folder, const char *home, struct project *project)
{
	static const struct tool tools[] = {
		{ "pnpm-lock.yaml", "pnpm test", ".local/share/pnpm/store" },
		{ "yarn.lock", "yarn test", ".cache/yarn" },
		{ "bun.lock", "bun run test", ".bun/install/cache" },
		{ "bun.lockb", "bun run test", ".bun/install/cache" },
		{ NULL, "npm test", ".npm" },
	};
	const struct tool *tool = which_tool(folder, tools);

	if (has_test_script(folder))
		list_add(&project->checks, tool->check);
	add_cache(project, home, tool->cache);
}

/* Has the folder a test of Python's, and by what is it run? NULL: it has none. */
static const char *python_tests(int folder, const char *name, const char *unittest)
{
	AUTO_FD fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int copy = fd < 0 ? -1 : dup(fd);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const char *check = NULL;

	for (struct dirent *entry; dir && !check && (entry = readdir(dir));) {
		AUTO_BUFFER struct buffer bytes = BUFFER_INIT(MOST_BYTES);

		if (fnmatch("test_*.py", entry->d_name, 0) != 0 ||
		    read_file(fd, entry->d_name, &bytes) < 0)
			continue;
		check = strstr(buffer_text(&bytes), "import unittest") ? unittest
								       : "python3 -m pytest";
	}
	if (dir)
		closedir(dir);
	return check;
}

static const char *python_check(int folder)
{
	const char *check = python_tests(folder, ".", "python3 -m unittest");

	return check ? check : python_tests(folder, "tests", "python3 -m unittest discover tests");
}

static void look_python(int folder, const char *home, struct project *project)
{
	static const struct tool tools[] = {
		{ "uv.lock", "uv run pytest", ".cache/uv" },
		{ "poetry.lock", "poetry run pytest", ".cache/pypoetry" },
		{ "tox.ini", "tox", ".cache/pip" },
		{ NULL, "python3 -m pytest", ".cache/pip" },
	};
	const struct tool *tool = which_tool(folder, tools);
	const char *own = tool->file ? NULL : python_check(folder);

	list_add(&project->checks, own ? own : tool->check);
	add_cache(project, home, tool->cache);
}

static void look_rust(int folder, const char *home, struct project *project)
{
	(void)folder;
	list_add(&project->checks, "cargo test");
	add_cache(project, home, ".cargo/registry");
	add_cache(project, home, ".cargo/git");
}

static void look_go(int folder, const char *home, struct project *project)
{
	(void)folder;
	list_add(&project->checks, "go test ./...");
	add_cache(project, home, "go/pkg/mod");
}

static void look_maven(int folder, const char *home, struct project *project)
{
	list_add(&project->checks, there(folder, "mvnw") ? "./mvnw -q test" : "mvn -q test");
	add_cache(project, home, ".m2/repository");
}

static void look_gradle(int folder, const char *home, struct project *project)
{
	list_add(&project->checks, there(folder, "gradlew") ? "./gradlew test" : "gradle test");
	add_cache(project, home, ".gradle/caches");
}

/* A Makefile with a rule for it knows best how to test what is built with it. */
static void look_meson(int folder, const char *home, struct project *project)
{
	const char *check = make_check(folder);

	(void)home;
	list_add(&project->checks, check ? check : "meson test -C build");
}

static void look_cmake(int folder, const char *home, struct project *project)
{
	const char *check = make_check(folder);

	(void)home;
	list_add(&project->checks, check ? check : "ctest --test-dir build --output-on-failure");
}

static void look_make(int folder, const char *home, struct project *project)
{
	const char *check = make_check(folder);

	(void)home;
	if (check)
		list_add(&project->checks, check);
}

static const struct {
	const char *name;
	const char *file;
	void (*look)(int folder, const char *home, struct project *project);
} kinds[] = {
	{ "node", "package.json", look_node },       { "python", "pyproject.toml", look_python },
	{ "python", "setup.py", look_python },       { "python", "requirements.txt", look_python },
	{ "rust", "Cargo.toml", look_rust },         { "go", "go.mod", look_go },
	{ "java", "pom.xml", look_maven },           { "java", "build.gradle", look_gradle },
	{ "java", "build.gradle.kts", look_gradle }, { "c", "meson.build", look_meson },
	{ "c", "CMakeLists.txt", look_cmake },       { "make", "GNUmakefile", look_make },
	{ "make", "Makefile", look_make },           { "make", "makefile", look_make },
};

static bool known(const struct project *project, const char *name)
{
	for (size_t i = 0; i < project->count; i++)
		if (strcmp(project->kinds[i].name, name) == 0)
			return true;
	return false;
}

static void add_kind(struct project *project, const char *name, const char *evidence)
{
	project->kinds = mem_resize(project->kinds, project->count + 1, sizeof *project->kinds);
	project->kinds[project->count++] = (struct project_kind){ name, evidence };
}

/* Can a file of settings hold this name as it is? */
static bool is_plain(const char *name)
{
	AUTO_FREE char *shown = text_escaped(name);

	return strcmp(shown, name) == 0;
}

/* Files that often hold secrets under names that are not hidden anyway. */
static void look_for_secrets(int folder, struct project *project)
{
	static const char *const patterns[] = { "*.tfstate", "*.tfvars", "wp-config.php",
						"serviceAccount*.json", "local.settings.json" };
	int copy = dup(folder);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
			if (entry->d_type == DT_REG && is_plain(entry->d_name) &&
			    fnmatch(patterns[i], entry->d_name, 0) == 0)
				list_add(&project->secrets, entry->d_name);
	if (dir)
		closedir(dir);
	if (there(folder, "config/master.key"))
		list_add(&project->secrets, "config/master.key");
}

int project_detect(const char *folder, const char *home, struct project *ret_project,
		   struct error *err)
{
	AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*ret_project = (struct project){ 0 };
	if (fd < 0)
		return error_sys(err, "open the project '%s'", folder);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		/* A Makefile beside something else is that one's. */
		bool second = strcmp(kinds[i].name, "make") == 0 && ret_project->count;

		if (second || known(ret_project, kinds[i].name) || !there(fd, kinds[i].file))
			continue;
		add_kind(ret_project, kinds[i].name, kinds[i].file);
		kinds[i].look(fd, home, ret_project);
	}
	/* A few scripts without any file that says so are Python's by their tests. */
	if (!ret_project->count && python_check(fd)) {
		add_kind(ret_project, "python", "test_*.py");
		look_python(fd, home, ret_project);
	}
	look_for_secrets(fd, ret_project);
	return 0;
}

void project_release(struct project *project)
{
	free(project->kinds);
	list_release(&project->checks);
	list_release(&project->caches);
	list_release(&project->secrets);
}
