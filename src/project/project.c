/* Project detection: see project.h. */
#include "project/project.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 4 << 20 };

static bool exists(int folder, const char *name)
{
	return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Appends a file of the project. Returns 0, or -1 if it is not a regular file or too large. */
static int read_file(int folder, const char *name, struct buffer *bytes)
{
	AUTO_FD fd = fd_openat2(folder, name, O_RDONLY | O_NONBLOCK, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return -1;
	return fd_read_all(fd, bytes);
}

/* Whether the line is a rule with this target. */
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

/* Whether this Makefile has a rule for the target. */
static bool makefile_has(const char *text, const char *target)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (names_target(line, target))
			return true;
	}
	return false;
}

/* The make command that runs the tests, or NULL. */
static const char *make_check(int folder)
{
	static const char *const files[] = { "GNUmakefile", "Makefile", "makefile" };

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		AUTO_BUFFER struct buffer bytes = BUFFER_INIT(MOST_BYTES);

		if (read_file(folder, files[i], &bytes) < 0)
			continue;
		if (makefile_has(buffer_text(&bytes), "test"))
			return "make test";
		return makefile_has(buffer_text(&bytes), "check") ? "make check" : NULL;
	}
	return NULL;
}

/* Whether package.json has a test script other than npm's placeholder. */
static bool has_test_script(int folder)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(MOST_BYTES);
	bool found = false;
	json_t *package;
	const char *script;

	if (read_file(folder, "package.json", &bytes) < 0)
		return false;
	package = json_loadb(bytes.data, bytes.used, 0, NULL);
	script = jsonget_string(json_object_get(package, "scripts"), "test");
	found = script && !strstr(script, "no test specified");
	json_decref(package);
	return found;
}

/* A tool, recognized by its file. The last tool of a list is the default and has no file. */
struct tool {
	const char *file;
	const char *check;
};

static const struct tool *find_tool(int folder, const struct tool *tools)
{
	while (tools->file && !exists(folder, tools->file))
		tools++;
	return tools;
}

static void detect_node(int folder, struct project *project)
{
	static const struct tool tools[] = {
		{ "pnpm-lock.yaml", "pnpm test" },
		{ "yarn.lock", "yarn test" },
		{ "bun.lock", "bun run test" },
		{ "bun.lockb", "bun run test" },
		{ NULL, "npm test" },
	};
	const struct tool *tool = find_tool(folder, tools);

	if (has_test_script(folder))
		list_add(&project->checks, tool->check);
}

/* The command for the Python tests in a folder, or NULL if it has none. */
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

static void detect_python(int folder, struct project *project)
{
	static const struct tool tools[] = {
		{ "uv.lock", "uv run pytest" },
		{ "poetry.lock", "poetry run pytest" },
		{ "tox.ini", "tox" },
		{ NULL, "python3 -m pytest" },
	};
	const struct tool *tool = find_tool(folder, tools);
	const char *own = tool->file ? NULL : python_check(folder);

	list_add(&project->checks, own ? own : tool->check);
}

static void detect_rust(int folder, struct project *project)
{
	(void)folder;
	list_add(&project->checks, "cargo test");
}

static void detect_go(int folder, struct project *project)
{
	(void)folder;
	list_add(&project->checks, "go test ./...");
}

static void detect_maven(int folder, struct project *project)
{
	list_add(&project->checks, exists(folder, "mvnw") ? "./mvnw -q test" : "mvn -q test");
}

static void detect_gradle(int folder, struct project *project)
{
	list_add(&project->checks, exists(folder, "gradlew") ? "./gradlew test" : "gradle test");
}

/* A Makefile with a test rule takes precedence. */
static void detect_meson(int folder, struct project *project)
{
	const char *check = make_check(folder);

	list_add(&project->checks, check ? check : "meson test -C build");
}

static void detect_cmake(int folder, struct project *project)
{
	const char *check = make_check(folder);

	list_add(&project->checks, check ? check : "ctest --test-dir build --output-on-failure");
}

static void detect_make(int folder, struct project *project)
{
	const char *check = make_check(folder);

	if (check)
		list_add(&project->checks, check);
}

static const struct {
	const char *name;
	const char *file;
	void (*detect)(int folder, struct project *project);
} kinds[] = {
	{ "node", "package.json", detect_node },
	{ "python", "pyproject.toml", detect_python },
	{ "python", "setup.py", detect_python },
	{ "python", "requirements.txt", detect_python },
	{ "rust", "Cargo.toml", detect_rust },
	{ "go", "go.mod", detect_go },
	{ "java", "pom.xml", detect_maven },
	{ "java", "build.gradle", detect_gradle },
	{ "java", "build.gradle.kts", detect_gradle },
	{ "c", "meson.build", detect_meson },
	{ "c", "CMakeLists.txt", detect_cmake },
	{ "make", "GNUmakefile", detect_make },
	{ "make", "Makefile", detect_make },
	{ "make", "makefile", detect_make },
};

static bool has_kind(const struct project *project, const char *name)
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

/* Whether a configuration file can hold this name without escapes. */
static bool is_plain(const char *name)
{
	AUTO_FREE char *shown = text_escaped(name);

	return strcmp(shown, name) == 0;
}

/* Adds files that often hold secrets but are not hidden by default. */
static void find_secrets(int folder, struct project *project)
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
	if (exists(folder, "config/master.key"))
		list_add(&project->secrets, "config/master.key");
}

int project_detect(const char *folder, struct project *ret_project, struct error *err)
{
	AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*ret_project = (struct project){ 0 };
	if (fd < 0)
		return error_sys(err, "open the project '%s'", folder);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		/* A Makefile beside another kind belongs to that kind. */
		bool second = strcmp(kinds[i].name, "make") == 0 && ret_project->count;

		if (second || has_kind(ret_project, kinds[i].name) || !exists(fd, kinds[i].file))
			continue;
		add_kind(ret_project, kinds[i].name, kinds[i].file);
		kinds[i].detect(fd, ret_project);
	}
	/* Scripts without a project file are recognized as Python by their tests. */
	if (!ret_project->count && python_check(fd)) {
		add_kind(ret_project, "python", "test_*.py");
		detect_python(fd, ret_project);
	}
	find_secrets(fd, ret_project);
	return 0;
}

void project_release(struct project *project)
{
	free(project->kinds);
	list_release(&project->checks);
	list_release(&project->secrets);
}
