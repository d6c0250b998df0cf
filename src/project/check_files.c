/* Names of files that take part in checking: see check_files.h. */
#include "project/check_files.h"

#include "util/mem.h"
#include "util/text/glob.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *const check_files_runners[] = {
	/* JavaScript */
	"jest.config.*",
	"jest.setup.*",
	"vitest.config.*",
	"vitest.workspace.*",
	"vite.config.*",
	"karma.conf.*",
	".mocharc*",
	"mocha.opts",
	"ava.config.*",
	".taprc",
	".nycrc*",
	".c8rc*",
	"playwright.config.*",
	"cypress.config.*",
	"wdio.conf.*",
	".eslintrc*",
	"eslint.config.*",
	".eslintignore",
	".oxlintrc*",
	".prettierrc*",
	"prettier.config.*",
	".prettierignore",
	".stylelintrc*",
	"stylelint.config.*",
	".stylelintignore",
	"biome.json*",
	"tsconfig*.json",
	"jsconfig*.json",
	"babel.config.*",
	".babelrc*",
	".swcrc",
	"deno.json*",
	".npmrc",
	".yarnrc*",
	".yarn/releases/",
	".yarn/plugins/",
	".pnpmfile.*",
	"pnpm-workspace.yaml",
	"bunfig.toml",
	/* Python; the last ones would be imported in place of the runner */
	"pytest.ini",
	".pytest.ini",
	"pytest.toml",
	".pytest.toml",
	"conftest.py",
	"tox.ini",
	"noxfile.py",
	"setup.cfg",
	"pyproject.toml",
	".coveragerc",
	"mypy.ini",
	".mypy.ini",
	"ruff.toml",
	".ruff.toml",
	".flake8",
	".pylintrc",
	"pylintrc",
	"pyrightconfig.json",
	"ty.toml",
	".isort.cfg",
	".bandit",
	"*.dist-info/",
	"*.egg-info/",
	"sitecustomize.py",
	"usercustomize.py",
	"pytest.py",
	"pytest/",
	"_pytest/",
	"unittest.py",
	"unittest/",
	/* others */
	".cargo/",
	"rust-toolchain*",
	"clippy.toml",
	".clippy.toml",
	"rustfmt.toml",
	".rustfmt.toml",
	".config/nextest.toml",
	"go.work",
	"tarpaulin.toml",
	".golangci.*",
	"staticcheck.conf",
	".mvn/",
	"gradle/wrapper/",
	"*.runsettings",
	"Directory.Build.*",
	".rspec*",
	"spec_helper.rb",
	".rubocop.y*ml",
	".simplecov",
	"phpunit.xml*",
	"phpunit.dist.xml",
	"phpcs.xml*",
	"psalm.xml*",
	"phpstan.neon*",
	"checkstyle*.xml",
	".clang-tidy",
	".clang-format*",
	".shellcheckrc",
	".editorconfig",
	".pre-commit-config.yaml",
	"codecov.y*ml",
	".codecov.y*ml",
	NULL,
};

const char *const check_files_recorded[] = {
	"*.snap",         "*.snap.*",
	"*.ambr",         "*.golden",
	"*.golden.*",     "*.approved.*",
	"*.expected",     "*.expected.*",
	"__snapshots__/", "__image_snapshots__/",
	"golden/",        "goldens/",
	"snapshots/",     NULL,
};

const char *const check_files_ci[] = {
	".github/workflows/", ".github/actions/",     ".circleci/",
	".gitlab-ci.y*ml",    ".buildkite/",          "Jenkinsfile",
	".travis.yml",        "azure-pipelines.y*ml", NULL,
};

bool check_files_matches(const char *pattern, const char *path)
{
	uint64_t steps = UINT64_C(1) << 20;
	struct glob glob;
	bool found;

	if (glob_read(pattern, &glob) != GLOB_PATTERN)
		return false;
	found = glob_matches(&glob, path, true, &steps);
	for (const char *end = strchr(path, '/'); end && !found; end = strchr(end + 1, '/')) {
		AUTO_FREE char *folder = strndup(path, (size_t)(end - path));

		found = glob_matches(&glob, folder, true, &steps);
	}
	glob_release(&glob);
	return found && steps > 0;
}

bool check_files_matches_any(const char *const *patterns, const char *path)
{
	for (; *patterns; patterns++)
		if (check_files_matches(*patterns, path))
			return true;
	return false;
}
