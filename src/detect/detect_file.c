/* Files by their paths: see detect_file.h. */
#include "detect/detect_file.h"

#include "project/check_files.h"
#include "project/path_group.h"
#include "util/file/path.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *ending;
	enum detect_language language;
} endings[] = {
	{ ".js", DETECT_JAVASCRIPT },
	{ ".jsx", DETECT_JAVASCRIPT },
	{ ".mjs", DETECT_JAVASCRIPT },
	{ ".cjs", DETECT_JAVASCRIPT },
	{ ".ts", DETECT_JAVASCRIPT },
	{ ".tsx", DETECT_JAVASCRIPT },
	{ ".mts", DETECT_JAVASCRIPT },
	{ ".cts", DETECT_JAVASCRIPT },
	{ ".vue", DETECT_JAVASCRIPT },
	{ ".py", DETECT_PYTHON },
	{ ".pyi", DETECT_PYTHON },
	{ ".go", DETECT_GO },
	{ ".rs", DETECT_RUST },
	{ ".java", DETECT_JAVA },
	{ ".kt", DETECT_JAVA },
	{ ".c", DETECT_C },
	{ ".h", DETECT_C },
	{ ".cc", DETECT_C },
	{ ".cpp", DETECT_C },
	{ ".cxx", DETECT_C },
	{ ".hh", DETECT_C },
	{ ".hpp", DETECT_C },
	{ ".rb", DETECT_RUBY },
};

/* Patterns of names, and names of folders. The others are in check_files.c and path_group.c. */
static const char *const scripts[] = {
	"*.sh",        "*.bash",
	"*.zsh",       "Makefile",
	"makefile",    "GNUmakefile",
	"*.mk",        "justfile",
	"Justfile",    "Taskfile.y*ml",
	"Jenkinsfile", ".gitlab-ci.y*ml",
	".travis.yml", "azure-pipelines.y*ml",
	"Rakefile",    "tox.ini",
	"noxfile.py",  "package.json",
	"Dockerfile",  "*.bat",
	"*.ps1",       ".pre-commit-config.yaml",
	NULL,
};
static const char *const script_folders[] = { ".github",    ".circleci", ".gitlab",
					      ".buildkite", ".husky",    NULL };
/* Besides the configuration of test runners and linters. */
static const char *const settings[] = { "package.json",   "Cargo.toml",
					"pom.xml",        "build.gradle*",
					"CMakeLists.txt", "Makefile",
					"jacoco*.xml",    NULL };

static bool has_name(const char *path, const char *const *patterns)
{
	for (; *patterns; patterns++)
		if (fnmatch(*patterns, path_name(path), 0) == 0)
			return true;
	return false;
}

/* Reports whether one of the folders above the file has one of these names. */
static bool is_below(const char *path, const char *const *folders)
{
	for (; *folders; folders++) {
		size_t size = strlen(*folders);

		for (const char *at = path; strchr(at, '/'); at = strchr(at, '/') + 1)
			if (strncmp(at, *folders, size) == 0 && at[size] == '/')
				return true;
	}
	return false;
}

static enum detect_language language_of(const char *path)
{
	const char *dot = strrchr(path_name(path), '.');

	for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
		if (strcasecmp(dot, endings[i].ending) == 0)
			return endings[i].language;
	return DETECT_OTHER;
}

struct detect_file detect_file_of(const char *path)
{
	struct detect_file file = {
		.language = language_of(path),
		.recorded = check_files_matches_any(check_files_recorded, path),
		.script = has_name(path, scripts) || is_below(path, script_folders),
		.settings = has_name(path, settings) ||
			    check_files_matches_any(check_files_runners, path),
		.lockfile = path_group_manifest_of(path) != NULL,
	};

	/* A recorded result is compared as a whole, not by line, unless it is code. */
	file.test = !file.lockfile && path_group_is_test(path) &&
		    (!file.recorded || file.language != DETECT_OTHER);
	return file;
}
