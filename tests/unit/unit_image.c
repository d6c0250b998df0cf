/* Images: a devcontainer.json, the recipe, the folder of a build, and an engine's list. */
#include "unit.h"

#include "image/devcontainer.h"
#include "image/image_agent.h"
#include "image/image_context.h"
#include "image/image_recipe.h"
#include "image/image_store.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- devcontainer.json ---- */

static int read_in(const char *folder, const char *text, struct devcontainer *ret_found,
		   struct error *err)
{
	*ret_found = (struct devcontainer){ 0 };
	return devcontainer_read(text, strlen(text), folder, ret_found, err);
}

static void a_usual_one(void)
{
	static const char text[] =
		"// a comment, with a \" quote\n"
		"{ /* { */ \"build\": { \"dockerfile\": \"../Dockerfile\", \"context\": \"..\",\n"
		"  \"args\": { \"URL\": \"https://a//b/*c*/,]\", }, \"target\": \"dev\", },\n"
		"  \"name\": \"x\", \"features\": {}, \"remoteUser\": \"u\", // more\n"
		"  \"unheard\\u001b\": 1, \"privileged\": false, \"capAdd\": [], \"mounts\": [] , }";
	struct devcontainer found;
	struct error err = { 0 };

	CHECK("comments and last commas are accepted",
	      read_in(".devcontainer", text, &found, &err) == 0);
	CHECK("the Containerfile is found above the folder",
	      found.containerfile && strcmp(found.containerfile, "Dockerfile") == 0);
	CHECK("the folder of the build can be the project",
	      found.context && strcmp(found.context, "") == 0);
	CHECK("the stage is honoured", found.target && strcmp(found.target, "dev") == 0);
	CHECK("no comment is found in a string, and no comma either",
	      found.arguments.count == 1 &&
		      strcmp(found.arguments.items[0], "URL=https://a//b/*c*/,]") == 0);
	CHECK("what has no effect is named, with the reason",
	      list_has(&found.ignored,
		       "features: not installed; add their tools to a Containerfile") &&
		      list_has(&found.ignored, "remoteUser: the fence has a user of its own"));
	CHECK("also a key that nobody knows, without its control characters",
	      list_has(&found.ignored, "unheard\\x1b: not known to Ringfence"));
	CHECK("what is honoured or harmless is not", found.ignored.count == 3);
	devcontainer_release(&found);
}

static void older_keys(void)
{
	struct devcontainer found;
	struct error err;

	CHECK("the older keys are honoured",
	      read_in("", "{\"dockerFile\": \"a/D\", \"context\": \"a\"}", &found, &err) == 0 &&
		      strcmp(found.containerfile, "a/D") == 0 && strcmp(found.context, "a") == 0);
	devcontainer_release(&found);
	CHECK("an image is honoured",
	      read_in("", "{\"image\": \"debian:12\"}", &found, &err) == 0 &&
		      strcmp(found.image, "debian:12") == 0 && !found.containerfile);
	devcontainer_release(&found);
}

static void privileges(void)
{
	static const struct {
		const char *text, *named;
	} rows[] = {
		{ "\"privileged\": true", "privileged" },
		{ "\"privileged\": \"true\"", "privileged" },
		{ "\"capAdd\": [\"SYS_PTRACE\"]", "capAdd" },
		{ "\"securityOpt\": [\"seccomp=unconfined\"]", "securityOpt" },
		{ "\"mounts\": [\"source=/,target=/h,type=bind\"]", "mounts" },
		{ "\"mounts\": {\"source\": \"/\"}", "mounts" },
		{ "\"runArgs\": [\"--privileged\"]", "runArgs --privileged" },
		{ "\"runArgs\": [\"--cap-add=ALL\"]", "runArgs --cap-add=ALL" },
		{ "\"runArgs\": [\"-v\", \"/:/h\"]", "runArgs -v" },
		{ "\"runArgs\": [\"-v/:/h\"]", "runArgs -v/:/h" },
		{ "\"runArgs\": [\"--network\", \"host\"]", "runArgs --network" },
		{ "\"build\": {\"options\": [\"--secret=id=a,src=/etc/shadow\"]}",
		  "build.options" },
		{ "\"dockerComposeFile\": \"c.yml\"", "dockerComposeFile" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		AUTO_FREE char *text = mem_format("{\"image\": \"debian\", %s}", rows[i].text);
		struct devcontainer found;
		struct error err;

		printf("# %s\n", text);
		CHECK("what asks for privileges or mounts is refused, and named",
		      read_in("", text, &found, &err) < 0 && err.status == ERROR_REFUSED &&
			      strstr(err.text, rows[i].named));
	}
}

static void harmless_options(void)
{
	struct devcontainer found;
	struct error err;

	CHECK("other options of an engine are only ignored",
	      read_in("", "{\"image\": \"debian\", \"runArgs\": [\"--init\", \"--name\", \"v\"]}",
		      &found, &err) == 0 &&
		      list_has(&found.ignored, "runArgs: no option is passed to the engine"));
	devcontainer_release(&found);
}

static void invalid_ones(void)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{",
		"{}",
		"{\"image\": 1}",
		"{\"image\": \"--privileged\"}",
		"{\"image\": \"${localEnv:SECRET}\"}",
		"{\"image\": \"a\", \"build\": {\"dockerfile\": \"D\"}}",
		"{\"build\": {\"dockerfile\": \"../../D\"}}",
		"{\"build\": {\"dockerfile\": \"/etc/passwd\"}}",
		"{\"build\": {\"dockerfile\": \"D\", \"context\": \"../..\"}}",
		"{\"build\": {\"dockerfile\": \"D\", \"target\": \"--push\"}}",
		"{\"build\": {\"dockerfile\": \"D\", \"args\": {\"A=B\": \"c\"}}}",
		"{\"build\": {\"dockerfile\": \"D\", \"args\": {\"A\": \"${localEnv:TOKEN}\"}}}",
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct devcontainer found;
		struct error err;

		printf("# %s\n", texts[i]);
		CHECK("what cannot be used is refused",
		      read_in(".devcontainer", texts[i], &found, &err) < 0 && !found.image &&
			      !found.containerfile);
	}
}

static void too_large(void)
{
	AUTO_FREE char *text = mem_alloc(DEVCONTAINER_BYTES_MAX + 2);
	struct devcontainer found;
	struct error err;

	memset(text, ' ', DEVCONTAINER_BYTES_MAX + 1);
	text[DEVCONTAINER_BYTES_MAX + 1] = '\0';
	CHECK("a file that is too large is refused",
	      read_in("", text, &found, &err) < 0 && strstr(err.text, "256 KiB"));
}

/* ---- recipe ---- */

static void versions(void)
{
	AUTO_BUFFER struct buffer script = BUFFER_INIT(1 << 20);
	const struct image_agent *agent;

	CHECK("the list of the tests' agents is there",
	      fd_read_path("tests/agents/install", &script) == 0);
	for (size_t i = 0; (agent = image_agent_at(i)); i++) {
		AUTO_FREE char *line = mem_format("\n%s %s %s\n", agent->name, agent->version,
						  agent->package);

		printf("# %s\n", agent->name);
		CHECK("an agent has the version that the tests run",
		      strstr(buffer_text(&script), line));
	}
	CHECK("so has their Node.js",
	      strstr(buffer_text(&script), strchr(image_agent_node(), '@')));
}

static void write_recipe(enum image_recipe_kind kind, const char *from, const char *agent,
			 struct buffer *text)
{
	struct image_recipe recipe = { .kind = kind, .from = from };

	if (agent)
		list_add(&recipe.agents, agent);
	list_add(&recipe.tools, "golang-go");
	image_recipe_write(&recipe, text);
	image_recipe_release(&recipe);
}

static void recipes(void)
{
	AUTO_BUFFER struct buffer image = BUFFER_INIT(1 << 16);
	AUTO_BUFFER struct buffer host = BUFFER_INIT(1 << 16);

	write_recipe(IMAGE_RECIPE_IMAGE, "debian:12", "claude", &image);
	CHECK("a base image is named", strstr(buffer_text(&image), "\nFROM debian:12\n"));
	CHECK("every image has git, jq and Python",
	      strstr(buffer_text(&image), " git \\\n") && strstr(buffer_text(&image), " jq \\\n") &&
		      strstr(buffer_text(&image), " python3 \\\n"));
	CHECK("and the tool chain of the project", strstr(buffer_text(&image), " golang-go \\\n"));
	CHECK("an agent has an exact version",
	      strstr(buffer_text(&image), "@anthropic-ai/claude-code@2.1.326\n"));
	CHECK("its user has the id 1000",
	      strstr(buffer_text(&image), "\nUSER 1000:1000\nWORKDIR "));
	write_recipe(IMAGE_RECIPE_HOST, NULL, "claude", &host);
	CHECK("an image on the host's folders is made of nothing",
	      strstr(buffer_text(&host), "\nFROM scratch\n"));
	CHECK("and runs nothing", !strstr(buffer_text(&host), "RUN"));
}

static void tools(void)
{
	char folder[UNIT_PATH];
	struct list found = { 0 };
	AUTO_FREE char *path = NULL;
	FILE *file;

	unit_temp(folder);
	image_recipe_add_tools(folder, &found);
	CHECK("an empty project needs no tools", found.count == 0);
	path = mem_format("%s/go.mod", folder);
	file = fopen(path, "w");
	if (file)
		fclose(file);
	image_recipe_add_tools(folder, &found);
	image_recipe_add_tools(folder, &found);
	CHECK("the tools of a project are found by its files, once",
	      found.count == 1 && strcmp(found.items[0], "golang-go") == 0);
	list_release(&found);
}

/* ---- the folder of a build ---- */

static void make_file(int folder, const char *name, const char *text, mode_t mode)
{
	AUTO_FD file = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	if (file >= 0)
		(void)fd_write_all(file, text, strlen(text));
}

static int copy_in(int project, const char *path, struct image_context *ret_context,
		   char target[UNIT_PATH])
{
	AUTO_FD to = open(unit_temp(target), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error err = { 0 };
	int result = image_context_copy(project, path, to, ret_context, &err);

	if (result < 0)
		printf("# %s\n", err.text);
	return result;
}

static bool is_changed(int project, const char *hash)
{
	struct image_context context = { 0 };
	struct error err;

	return image_context_copy(project, "c", -1, &context, &err) == 0 &&
	       strcmp(context.hash, hash) != 0;
}

static void contexts(void)
{
	char folder[UNIT_PATH], target[UNIT_PATH];
	AUTO_FD project = open(unit_temp(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct image_context context = { 0 };
	struct stat status;

	mkdirat(project, "c", 0700);
	mkdirat(project, "c/d", 0700);
	make_file(project, "c/d/run", "#!/bin/sh\n", 0700);
	make_file(project, "c/text", "a", 0600);
	symlinkat("/etc/passwd", project, "c/link");
	CHECK("a folder is copied", copy_in(project, "c", &context, target) == 0 &&
					    context.files == 2 && context.bytes == 11);

	AUTO_FREE char *run = mem_format("%s/d/run", target);
	AUTO_FREE char *link = mem_format("%s/link", target);

	CHECK("everybody may read and run the copy of a program",
	      stat(run, &status) == 0 && (status.st_mode & 0777) == 0755);
	CHECK("a symlink is copied, not followed",
	      lstat(link, &status) == 0 && S_ISLNK(status.st_mode));
	CHECK("the hash is that of what is there", !is_changed(project, context.hash));
	make_file(project, "c/text", "b", 0600);
	CHECK("other content changes it", is_changed(project, context.hash));
	make_file(project, "c/text", "a", 0600);
	fchmodat(project, "c/text", 0700, 0);
	CHECK("a program in the place of a file changes it", is_changed(project, context.hash));
	fchmodat(project, "c/text", 0600, 0);
	CHECK("what was changed back does not", !is_changed(project, context.hash));
	unlinkat(project, "c/link", 0);
	symlinkat("/etc/shadow", project, "c/link");
	CHECK("another target of a symlink changes it", is_changed(project, context.hash));
	symlinkat("c", project, "s");
	CHECK("a symlink on the way to the folder is refused",
	      copy_in(project, "s", &context, target) < 0);
	CHECK("so is a way out of the project", copy_in(project, "..", &context, target) < 0);
}

static void large_contexts(void)
{
	char folder[UNIT_PATH];
	AUTO_FD project = open(unit_temp(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD file = openat(project, "large", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct image_context context = { 0 };
	struct error err;

	CHECK("there is a sparse file", ftruncate(file, ((off_t)IMAGE_CONTEXT_MIB << 20) + 1) == 0);
	CHECK("a folder that is too large is refused, with the remedy",
	      image_context_copy(project, "", -1, &context, &err) < 0 &&
		      err.status == ERROR_REFUSED && strstr(err.text, "64 MiB"));
}

/* ---- the images of an engine ---- */

#define LABELS(name)                                                                                \
	"\"Config\": {\"Labels\": {\"org.ringfence.image\": \"1\", \"org.ringfence.name\": \"" name \
	"\"}}"

static bool is_ours(const char *members)
{
	AUTO_FREE char *text = mem_format("[{\"Id\": \"1\", \"Created\": \"c\", \"Size\": 5, %s}]",
					  members);
	struct image_list list = { 0 };
	struct error err;
	bool ours;

	CHECK("the answer of an engine is read",
	      image_store_parse(text, strlen(text), &list, &err) == 0 && list.count == 1 &&
		      list.items[0].bytes == 5);
	ours = list.count && list.items[0].ours;
	image_list_release(&list);
	return ours;
}

static void engine_answers(void)
{
	struct image_list list = { 0 };
	struct error err;

	CHECK("an image with our label and its name is ours",
	      is_ours(LABELS("a/b") ", \"RepoTags\": [\"localhost/a/b:latest\"]"));
	CHECK("also with docker's form of a name",
	      is_ours(LABELS("a/b") ", \"RepoTags\": [\"a/b:latest\"]"));
	CHECK("one that lost its name to a newer one is ours",
	      is_ours(LABELS("a/b") ", \"RepoTags\": []"));
	CHECK("one that inherited the label is not",
	      !is_ours(LABELS("a/b") ", \"RepoTags\": [\"localhost/mine:latest\"]"));
	CHECK("nor one whose name only begins like ours",
	      !is_ours(LABELS("a/b") ", \"RepoTags\": [\"localhost/a/bc:latest\"]"));
	CHECK("one without labels is not",
	      !is_ours("\"Config\": {\"Labels\": null}, \"RepoTags\": []"));
	CHECK("an answer that is not a list is refused",
	      image_store_parse("{}", 2, &list, &err) < 0 && err.status == ERROR_PROTOCOL);
	CHECK("so is an image without an id", image_store_parse("[{}]", 4, &list, &err) < 0);
}

int main(void)
{
	a_usual_one();
	older_keys();
	privileges();
	harmless_options();
	invalid_ones();
	too_large();
	versions();
	recipes();
	tools();
	contexts();
	large_contexts();
	engine_answers();
	return unit_failures > 0;
}
