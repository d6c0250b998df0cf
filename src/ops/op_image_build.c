/* Building images: see op_image.h. */
#include "ops/op_image.h"

#include "image/image_agent.h"
#include "image/image_recipe.h"
#include "ops/image_prepared.h"
#include "ops/image_source.h"
#include "ops/op_image_engine.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A build in progress. */
struct work {
	const struct op_image_build_request *request;
	struct op_image_build_result *result;
	struct container_engine engine;
	struct image_run run;
	struct image_prepared prepared;
	struct image_recipe recipe;
	struct image_source source; /* with --devcontainer */
	char *folder;               /* a temporary one */
	char *containerfile;        /* of the user, as a full path in `folder`; or NULL */
	char *context;
	char *base;   /* the image that the recipe begins with, or NULL */
	char *debian; /* the tar file of that image, or NULL */
	char *old;    /* the id of our image that had the name before, or NULL */
	char hash[SHA256_HEX];
};

static void work_release(struct work *work)
{
	container_engine_release(&work->engine);
	image_recipe_release(&work->recipe);
	image_source_release(&work->source);
	if (work->folder)
		image_prepared_drop(work->folder);
	image_prepared_release(&work->prepared);
	free(work->folder);
	free(work->containerfile);
	free(work->context);
	free(work->base);
	free(work->debian);
	free(work->old);
}

/* ---- the request ---- */

static int check_agents(const struct list *agents, struct list *ret_agents, struct error *err)
{
	for (size_t i = 0; agents && i < agents->count; i++) {
		AUTO_FREE char *known = image_agent_names();

		if (!image_agent_find(agents->items[i]))
			return error_with(err, ERROR_INVALID,
					  "an image cannot have the agent '%.100s'; it can have %s",
					  agents->items[i], known);
		if (!list_has(ret_agents, agents->items[i]))
			list_add(ret_agents, agents->items[i]);
	}
	return 0;
}

/* The caller frees it. */
static char *whole_path(const char *path)
{
	AUTO_FREE char *here = getcwd(NULL, 0);

	return path_absolute(path, here ? here : "/");
}

static int check_request(const struct op_image_build_request *request, struct error *err)
{
	if (!!request->from + !!request->file + request->devcontainer > 1)
		return error_with(err, ERROR_INVALID,
				  "choose one of --from, --file and --devcontainer");
	if (request->name && container_engine_check_image(request->name, err) < 0)
		return -1;
	if (request->from && strcmp(request->from, "host") != 0 &&
	    strcmp(request->from, "debootstrap") != 0)
		return container_engine_check_image(request->from, err);

	AUTO_FREE char *file = request->file ? whole_path(request->file) : NULL;

	if (file && taint_has(request->target.taint, file))
		return error_with(
			err, ERROR_REFUSED,
			"'%s' is in a folder that an agent can change: copy it elsewhere, or "
			"use the project's own with --devcontainer, after 'ringfence trust "
			"--devcontainer'",
			request->file);
	return 0;
}

/* ---- the user's own file, and the project's ---- */

/* Copies the folder of the user's Containerfile. */
static int take_file(struct work *work, int folder, struct error *err)
{
	AUTO_FREE char *path = whole_path(work->request->file);
	AUTO_FREE char *parent = path_folder(path);
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(1 << 20);
	AUTO_FD from = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD to = -1;

	if (from < 0 || fd_read_path(path, &bytes) < 0)
		return error_sys(err, "read '%s'", path);
	if (fd_replace_file(folder, "Containerfile", buffer_text(&bytes), bytes.used, 0600) < 0 ||
	    mkdirat(folder, "context", 0700) < 0)
		return error_sys(err, "copy '%s'", path);
	to = openat(folder, "context", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (image_context_copy(from, "", to, &work->source.context, err) < 0)
		return -1;

	struct sha256 hash;

	sha256_init(&hash);
	sha256_add(&hash, buffer_text(&bytes), bytes.used);
	sha256_add(&hash, work->source.context.hash, sizeof work->source.context.hash);
	sha256_end(&hash, work->source.hash);
	return 0;
}

static int take_source(struct work *work, int folder, struct error *err)
{
	int trusted;

	if (image_source_load(work->request->project, folder, &work->source, err) < 0)
		return -1;
	image_source_honoured(&work->source, &work->result->honoured);
	for (size_t i = 0; i < work->source.found.ignored.count; i++)
		list_add(&work->result->ignored, work->source.found.ignored.items[i]);
	trusted = image_source_trusted(work->request->state, &work->source, err);
	if (trusted == 0)
		error_format(err, ERROR_REFUSED,
			     "you have not agreed to '%s' as it is now: run 'ringfence trust "
			     "--devcontainer'",
			     work->source.file);
	return trusted > 0 ? 0 : -1;
}

static int choose_file(struct work *work, struct error *err)
{
	AUTO_FD folder = open(work->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		return error_sys(err, "open '%s'", work->folder);
	if ((work->request->devcontainer ? take_source : take_file)(work, folder, err) < 0)
		return -1;
	if (work->source.found.image) {
		work->recipe.kind = IMAGE_RECIPE_IMAGE;
		work->base = mem_dup(work->source.found.image);
		return 0;
	}
	work->recipe.kind = IMAGE_RECIPE_FILE;
	work->containerfile = path_join(work->folder, "Containerfile");
	work->context = path_join(work->folder, "context");
	return 0;
}

/* ---- the base ---- */

/* Returns 0 if the engine has the image, or could pull it. */
static int get_base(const struct work *work, const char *name, struct error *err)
{
	struct image_list found = { 0 };
	int result = image_store_find(&work->run, name, &found, err);

	image_list_release(&found);
	if (result < 0 && err->status == ERROR_NOT_FOUND)
		result = image_store_pull(&work->run, name, err);
	return result;
}

static void choose_best(struct work *work)
{
	struct error why;

	if (get_base(work, IMAGE_RECIPE_BASE, &why) == 0) {
		work->recipe.kind = IMAGE_RECIPE_IMAGE;
		work->base = mem_dup(IMAGE_RECIPE_BASE);
		return;
	}
	work->recipe.kind = IMAGE_RECIPE_HOST;
	work->result->note =
		mem_format("the base image %s is not available, so the image has no system "
			   "of its own: the fence shows that of this machine",
			   IMAGE_RECIPE_BASE);
}

static int choose_debian(struct work *work, struct error *err)
{
	struct list packages = { 0 };
	int result;

	image_recipe_packages(&work->recipe, &packages);
	work->recipe.kind = IMAGE_RECIPE_DEBOOTSTRAP;
	result = image_prepared_debian(&work->prepared, &packages, work->request->mirror,
				       &work->debian, err);
	list_release(&packages);
	if (result < 0)
		return -1;
	/* The name of the file has the hash of its packages. */
	work->base = mem_format("ringfence/%s", path_name(work->debian));
	*strrchr(work->base, '.') = '\0';
	return 0;
}

static int choose(struct work *work, struct error *err)
{
	const char *from = work->request->from;

	if (work->request->file || work->request->devcontainer)
		return choose_file(work, err);
	if (!from)
		choose_best(work);
	else if (strcmp(from, "host") == 0)
		work->recipe.kind = IMAGE_RECIPE_HOST;
	else if (strcmp(from, "debootstrap") == 0)
		return choose_debian(work, err);
	else {
		work->recipe.kind = IMAGE_RECIPE_IMAGE;
		work->base = mem_dup(from);
	}
	return 0;
}

/* ---- the recipe's hash ---- */

static void add_text(struct sha256 *hash, const char *text)
{
	sha256_add(hash, text, strlen(text) + 1);
}

/* Adds the id of the base, so that a newer base makes another image. */
static void add_base(const struct work *work, struct sha256 *hash)
{
	struct image_list found = { 0 };
	struct error ignored;

	if (work->base && !work->debian &&
	    image_store_find(&work->run, work->base, &found, &ignored) == 0 && found.count)
		add_text(hash, found.items[0].id);
	image_list_release(&found);
}

static void make_hash(struct work *work)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	struct list packages = { 0 };
	struct sha256 hash;

	work->recipe.from = work->base ? work->base : "project";
	image_recipe_write(&work->recipe, &text);
	image_agent_packages(&work->recipe.agents, &packages);
	list_add(&packages, image_agent_node());
	sha256_init(&hash);
	add_text(&hash, buffer_text(&text));
	for (size_t i = 0; i < packages.count; i++)
		add_text(&hash, packages.items[i]);
	add_text(&hash, work->source.hash);
	add_base(work, &hash);
	sha256_end(&hash, work->hash);
	list_release(&packages);
}

/* Returns 1 if the image exists with this hash, 0 if it has to be built, or -1 with err
 * set. *ret_old is the id of an image that the build replaces, or NULL; the caller frees it. */
static int compare(const struct work *work, const char *name, const char *hash, char **ret_old,
		   struct error *err)
{
	struct image_list found = { 0 };
	int result = image_store_find(&work->run, name, &found, err);

	if (result < 0)
		return err->status == ERROR_NOT_FOUND ? 0 : -1;
	if (!found.count || !found.items[0].ours)
		result = error_with(
			err, ERROR_REFUSED,
			"there is an image '%s' that ringfence image build did not make: "
			"choose another name with --name",
			name);
	else
		result = found.items[0].recipe && strcmp(found.items[0].recipe, hash) == 0;
	if (result == 0 && ret_old)
		*ret_old = mem_dup(found.items[0].id);
	image_list_release(&found);
	return result;
}

/* ---- building ---- */

/* Returns "claude@2.1.326,codex@0.169.0" or "none". The caller frees. */
static char *agents_label(const struct list *names)
{
	AUTO_BUFFER struct buffer label = BUFFER_INIT(4096);

	for (size_t i = 0; i < names->count; i++)
		buffer_printf(&label, "%s%s@%s", i ? "," : "", names->items[i],
			      image_agent_find(names->items[i])->version);
	return mem_dup(names->count ? buffer_text(&label) : "none");
}

/* Imports the base of debootstrap, once. */
static int import_debian(const struct work *work, struct error *err)
{
	const struct image_labels labels = { .name = work->base,
					     .kind = "debootstrap",
					     .agents = "none",
					     .recipe = path_name(work->debian) };
	int same = compare(work, labels.name, labels.recipe, NULL, err);

	return same ? (same < 0 ? -1 : 0)
		    : image_store_import(&work->run, work->debian, &labels, err);
}

/* Builds the user's or the project's Containerfile, as the base of what follows. */
static int build_file(struct work *work, const char *name, const char *agents, struct error *err)
{
	const struct image_build build = {
		.containerfile = work->containerfile,
		.context = work->context,
		.target = work->source.found.target,
		.arguments = &work->source.found.arguments,
		.labels = { .name = name, .kind = "file", .agents = agents, .recipe = work->hash }
	};

	return image_store_build(&work->run, &build, err);
}

/* Builds our own Containerfile. */
static int build_recipe(struct work *work, const char *agents, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	AUTO_FREE char *file = path_join(work->folder, "recipe");
	AUTO_FREE char *context = NULL;
	AUTO_FD folder = open(work->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct image_build build = { .containerfile = file,
				     .labels = { .name = work->result->name,
						 .kind = work->result->kind,
						 .agents = agents,
						 .recipe = work->hash } };

	work->recipe.from = work->base;
	image_recipe_write(&work->recipe, &text);
	if (fd_replace_file(folder, "recipe", buffer_text(&text), text.used, 0600) < 0)
		return error_sys(err, "write '%s'", file);
	if (work->recipe.kind == IMAGE_RECIPE_IMAGE) {
		context = path_join(work->folder, "empty");
		if (mkdirat(folder, "empty", 0700) < 0)
			return error_sys(err, "create '%s'", context);
	} else if (image_prepared_context(&work->prepared, &work->recipe.agents, &context, err) <
		   0) {
		return -1;
	}
	build.context = context;
	build.quick = work->recipe.kind != IMAGE_RECIPE_IMAGE;
	return image_store_build(&work->run, &build, err);
}

static int build_all(struct work *work, struct error *err)
{
	AUTO_FREE char *agents = agents_label(&work->recipe.agents);

	if (work->debian && import_debian(work, err) < 0)
		return -1;
	if (work->containerfile && !work->recipe.agents.count)
		return build_file(work, work->result->name, agents, err);
	if (work->containerfile) {
		work->base = mem_format("%s-base", work->result->name);
		if (compare(work, work->base, "", NULL, err) < 0 ||
		    build_file(work, work->base, "none", err) < 0)
			return -1;
	}
	return build_recipe(work, agents, err);
}

/* Removes the image that had the name before, unless a container still uses it. */
static void remove_old(const struct work *work)
{
	struct error ignored;

	if (work->old)
		image_store_remove(&work->run, work->old, &ignored);
}

static int begin(struct work *work, struct error *err)
{
	const struct op_image_build_request *request = work->request;

	if (check_request(request, err) < 0 ||
	    check_agents(request->agents, &work->recipe.agents, err) < 0 ||
	    op_image_engine_find(&request->target, &work->engine, &work->run, err) < 0 ||
	    image_prepared_init(&work->prepared, request->target.taint, err) < 0)
		return -1;
	work->prepared.fence_options = request->fence_options;
	work->prepared.heard = request->target.heard;
	work->prepared.context = request->target.context;
	image_recipe_add_tools(request->project, &work->recipe.tools);
	return image_prepared_temporary(&work->prepared, &work->folder, err);
}

static void finish(struct work *work)
{
	struct op_image_build_result *result = work->result;

	result->engine = container_engine_name(work->engine.kind);
	result->kind = image_recipe_kind_name(work->recipe.kind);
	result->from = mem_copy(work->base);
	if (!result->name)
		result->name = work->request->name ? mem_dup(work->request->name)
						   : image_recipe_name(&work->recipe);
}

enum op_status op_image_build(const struct op_image_build_request *request,
			      struct op_image_build_result *ret_result, struct error *err)
{
	struct work work = { .request = request, .result = ret_result };
	int same = -1;
	int result = -1;

	*ret_result = (struct op_image_build_result){ 0 };
	if (begin(&work, err) == 0 && choose(&work, err) == 0) {
		finish(&work);
		make_hash(&work);
		same = compare(&work, ret_result->name, work.hash, &work.old, err);
	}
	if (same >= 0)
		result = same ? 0 : build_all(&work, err);
	if (same == 0 && result == 0)
		remove_old(&work);
	work_release(&work);
	return result < 0 ? op_status_of(err) : same ? OP_UNCHANGED : OP_DONE;
}

void op_image_build_release(struct op_image_build_result *result)
{
	free(result->name);
	free(result->note);
	free(result->from);
	list_release(&result->honoured);
	list_release(&result->ignored);
}

/* ---- printing ---- */

enum op_status op_image_print(const struct op_image_build_request *request,
			      struct buffer *containerfile, struct error *err)
{
	struct image_recipe recipe = { .kind = IMAGE_RECIPE_IMAGE };
	int result = -1;

	if (request->file || request->devcontainer) {
		error_format(err, ERROR_INVALID,
			     "--print shows our own template: leave out --file "
			     "and --devcontainer");
	} else if (check_request(request, err) == 0 &&
		   check_agents(request->agents, &recipe.agents, err) == 0) {
		recipe.from = request->from ? request->from : IMAGE_RECIPE_BASE;
		if (strcmp(recipe.from, "host") == 0)
			recipe.kind = IMAGE_RECIPE_HOST;
		if (strcmp(recipe.from, "debootstrap") == 0)
			recipe = (struct image_recipe){ .kind = IMAGE_RECIPE_DEBOOTSTRAP,
							.from = "ringfence/" IMAGE_RECIPE_SUITE,
							.agents = recipe.agents };
		image_recipe_add_tools(request->project, &recipe.tools);
		image_recipe_write(&recipe, containerfile);
		result = 0;
	}
	image_recipe_release(&recipe);
	return result < 0 ? op_status_of(err) : OP_DONE;
}
