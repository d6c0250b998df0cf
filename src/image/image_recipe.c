/* Containerfiles: see image_recipe.h. */
#include "image/image_recipe.h"

#include "image/image_agent.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In every image. */
static const char *const usual[] = { "ca-certificates", "git",     "jq",     "less",
				     "procps",          "python3", "ripgrep" };

/* Files at the root of a project, and the packages of their tool chain. */
static const struct {
	const char *file;
	const char *packages[4];
} tool_chains[] = {
	{ "Makefile", { "make", "gcc", "libc6-dev" } },
	{ "CMakeLists.txt", { "cmake", "make", "g++" } },
	{ "meson.build", { "meson", "gcc", "libc6-dev" } },
	{ "configure.ac", { "autoconf", "automake", "gcc", "libc6-dev" } },
	{ "package.json", { "make", "g++" } },
	{ "pyproject.toml", { "python3-venv", "python3-pip", "python3-pytest" } },
	{ "requirements.txt", { "python3-venv", "python3-pip", "python3-pytest" } },
	{ "setup.py", { "python3-venv", "python3-pip", "python3-pytest" } },
	{ "go.mod", { "golang-go" } },
	{ "Cargo.toml", { "cargo", "rustc" } },
	{ "pom.xml", { "maven", "default-jdk-headless" } },
	{ "build.gradle", { "gradle", "default-jdk-headless" } },
	{ "build.gradle.kts", { "gradle", "default-jdk-headless" } },
	{ "Gemfile", { "ruby", "bundler" } },
	{ "composer.json", { "php-cli", "composer" } },
};

const char *image_recipe_kind_name(enum image_recipe_kind kind)
{
	static const char *const names[] = {
		[IMAGE_RECIPE_HOST] = "host",
		[IMAGE_RECIPE_DEBOOTSTRAP] = "debootstrap",
		[IMAGE_RECIPE_IMAGE] = "image",
		[IMAGE_RECIPE_FILE] = "file",
	};

	_Static_assert(sizeof names / sizeof *names == IMAGE_RECIPE_KIND_COUNT, "a name per kind");
	return names[kind];
}

void image_recipe_release(struct image_recipe *recipe)
{
	list_release(&recipe->agents);
	list_release(&recipe->tools);
	*recipe = (struct image_recipe){ 0 };
}

static void add_once(struct list *list, const char *text)
{
	if (!list_has(list, text))
		list_add(list, text);
}

void image_recipe_add_tools(const char *project, struct list *tools)
{
	for (size_t i = 0; i < sizeof tool_chains / sizeof *tool_chains; i++) {
		AUTO_FREE char *path = path_join(project, tool_chains[i].file);

		for (size_t k = 0; k < 4 && tool_chains[i].packages[k]; k++)
			if (access(path, F_OK) == 0)
				add_once(tools, tool_chains[i].packages[k]);
	}
}

void image_recipe_packages(const struct image_recipe *recipe, struct list *packages)
{
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		add_once(packages, usual[i]);
	for (size_t i = 0; i < recipe->tools.count; i++)
		add_once(packages, recipe->tools.items[i]);
}

static void write_words(const struct list *words, struct buffer *out)
{
	for (size_t i = 0; i < words->count; i++)
		buffer_printf(out, " \\\n        %s", words->items[i]);
}

/* Without a network: what is copied was prepared in the folder of the build. */
static void write_copied(const struct image_recipe *recipe, struct buffer *out)
{
	if (recipe->kind == IMAGE_RECIPE_HOST)
		buffer_add_text(out,
				"# Empty folders: the fence shows the system folders of the host.\n"
				"FROM scratch\n"
				"COPY folders/ /\n");
	else
		buffer_printf(out, "FROM %s\n", recipe->from);
	if (recipe->agents.count)
		buffer_add_text(out, "# The agents, installed by npm.\n"
				     "COPY agents/ " IMAGE_RECIPE_FOLDER "/\n");
}

/* Everything is installed from a network. */
static void write_installed(const struct image_recipe *recipe, struct buffer *out)
{
	struct list packages = { 0 };
	struct list agents = { 0 };

	image_recipe_packages(recipe, &packages);
	image_agent_packages(&recipe->agents, &agents);
	buffer_printf(out,
		      "# Another base has to be Debian's or Ubuntu's, for apt-get.\n"
		      "FROM %s\n"
		      "RUN apt-get update \\\n"
		      "    && apt-get install -y --no-install-recommends",
		      recipe->from);
	write_words(&packages, out);
	if (agents.count)
		buffer_add_text(out, " \\\n    && if ! command -v npm; then apt-get install -y "
				     "--no-install-recommends nodejs npm; fi");
	buffer_add_text(out, " \\\n    && rm -rf /var/lib/apt/lists/*\n");
	if (agents.count) {
		buffer_add_text(out, "RUN npm install --global --no-audit --no-fund");
		write_words(&agents, out);
		buffer_add_text(out, "\n");
	}
	buffer_add_text(out, "RUN getent passwd 1000 || useradd --create-home --uid 1000 agent\n");
	list_release(&packages);
	list_release(&agents);
}

void image_recipe_write(const struct image_recipe *recipe, struct buffer *containerfile)
{
	buffer_add_text(
		containerfile,
		"# Made by ringfence image build --print. A fence uses the system folders "
		"only: /usr, /opt, /etc\n"
		"# and the like. It runs no entry point, and has a user and variables of its "
		"own.\n");
	if (recipe->kind == IMAGE_RECIPE_IMAGE)
		write_installed(recipe, containerfile);
	else
		write_copied(recipe, containerfile);
	buffer_add_text(containerfile, "# For those who run it without a fence.\n"
				       "USER 1000:1000\n"
				       "WORKDIR /work\n");
}

char *image_recipe_name(const struct image_recipe *recipe)
{
	AUTO_BUFFER struct buffer name = BUFFER_INIT(4096);

	buffer_add_text(&name, "ringfence/");
	for (size_t i = 0; i < recipe->agents.count; i++)
		buffer_printf(&name, "%s%s", i ? "-" : "", recipe->agents.items[i]);
	if (!recipe->agents.count)
		buffer_add_text(&name, recipe->kind == IMAGE_RECIPE_FILE ? "project" : "base");
	return mem_dup(buffer_text(&name));
}
