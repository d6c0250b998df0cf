/* Images of a container engine: see image_store.h. */
#include "image/image_store.h"

#include "util/mem.h"
#include "util/program.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND_MS = 1000, QUERY_MS = 60 * SECOND_MS, BUILD_MS = 3600 * SECOND_MS };

/* ---- the engine ---- */

/* Returns the last lines of what a program said, for a message. The caller frees. */
static char *tail_of(struct buffer *said)
{
	enum { MOST = 600 };
	const char *text = buffer_text(said);
	size_t size = strlen(text);
	AUTO_FREE char *shown = NULL;

	while (size && text[size - 1] == '\n')
		size--;
	shown = mem_format("%.*s", (int)(size > MOST ? MOST : size),
			   size > MOST ? text + size - MOST : text);
	return text_escaped(shown);
}

/* Runs the engine. Returns its exit status, or -1 with err set. */
static int run_engine(const struct image_run *run, const struct list *arguments, bool query,
		      struct buffer *output, struct buffer *errors, struct error *err)
{
	const struct program_run program = { .path = run->engine->program,
					     .arguments = arguments,
					     .environment = &run->engine->environment,
					     .most_ms = query ? QUERY_MS : BUILD_MS,
					     .terminal = true,
					     .output = output,
					     .errors = errors,
					     .heard = query ? NULL : run->heard,
					     .context = run->context };

	return program_run(&program, err);
}

/* The same, but every status other than 0 is an error. `what` is a phrase: "build the image". */
static int run_well(const struct image_run *run, const struct list *arguments, bool query,
		    const char *what, struct buffer *output, struct error *err)
{
	AUTO_BUFFER struct buffer errors = BUFFER_INIT(4 << 20);
	int status = run_engine(run, arguments, query, output, &errors, err);

	if (status > 0) {
		AUTO_FREE char *said = tail_of(&errors);

		return error_set(err, "%s could not %s (exit status %d): %s",
				 container_engine_name(run->engine->kind), what, status, said);
	}
	return status;
}

/* ---- reading ---- */

void image_release(struct image *image)
{
	free(image->id);
	free(image->name);
	free(image->kind);
	free(image->agents);
	free(image->recipe);
	free(image->created);
}

void image_list_release(struct image_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		image_release(&list->items[i]);
	free(list->items);
	*list = (struct image_list){ 0 };
}

static char *label_of(const json_t *labels, const char *name)
{
	AUTO_FREE char *key = mem_format("%s%s", IMAGE_STORE_LABEL, name);

	return mem_copy(jsonget_string(labels, key));
}

/* Is "localhost/ringfence/claude:latest" called "ringfence/claude"? */
static bool is_tag_of(const char *tag, const char *name)
{
	static const char local[] = "localhost/";
	size_t size = strlen(name);

	if (strncmp(tag, local, sizeof local - 1) == 0 &&
	    strncmp(name, local, sizeof local - 1) != 0)
		tag += sizeof local - 1;
	return strncmp(tag, name, size) == 0 && (!tag[size] || strcmp(tag + size, ":latest") == 0);
}

static bool is_ours(const struct image *image, const json_t *labels, const json_t *tags)
{
	const char *mark = jsonget_string(labels, IMAGE_STORE_LABEL "image");
	size_t index;
	json_t *tag;

	if (!mark || strcmp(mark, "1") != 0 || !image->name)
		return false;
	json_array_foreach((json_t *)tags, index,
			   tag) if (json_is_string(tag) &&
				    is_tag_of(json_string_value(tag), image->name)) return true;
	return json_array_size(tags) == 0;
}

static int add_image(const json_t *json, struct image_list *list, struct error *err)
{
	const json_t *labels = json_object_get(json_object_get(json, "Config"), "Labels");
	struct image image = { .id = mem_copy(jsonget_string(json, "Id")),
			       .name = label_of(labels, "name"),
			       .kind = label_of(labels, "kind"),
			       .agents = label_of(labels, "agents"),
			       .recipe = label_of(labels, "recipe"),
			       .created = mem_copy(jsonget_string(json, "Created")),
			       .bytes = (uint64_t)jsonget_number(json, "Size") };

	if (!image.id || !image.created) {
		image_release(&image);
		return error_with(err, ERROR_PROTOCOL, "the engine described an image without id");
	}
	image.ours = is_ours(&image, labels, json_object_get(json, "RepoTags"));
	list->items = mem_extend(list->items, list->count, sizeof image);
	list->items[list->count++] = image;
	return 0;
}

int image_store_parse(const char *text, size_t size, struct image_list *ret_list, struct error *err)
{
	json_error_t wrong;
	json_t *json = json_loadb(text, size, 0, &wrong);
	struct image_list list = { 0 };
	size_t index;
	json_t *entry;
	int result = 0;

	if (!json_is_array(json)) {
		json_decref(json);
		return error_with(err, ERROR_PROTOCOL, "the engine did not answer with a list");
	}
	json_array_foreach(json, index, entry) if (result == 0)
		result = add_image(entry, &list, err);
	json_decref(json);
	if (result < 0)
		image_list_release(&list);
	else
		*ret_list = list;
	return result;
}

/* ---- asking ---- */

/* Asks for the ids of our images. Podman fails if somebody removes an image at that moment. */
static int ask_ids(const struct image_run *run, struct buffer *output, struct error *err)
{
	enum { TRIES = 5 };
	static const char filter[] = "label=" IMAGE_STORE_LABEL "image=1";
	static const char *const words[] = { "images", "-q", "--no-trunc", "--filter", filter };
	struct list arguments = { 0 };
	int status = -1;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		list_add(&arguments, words[i]);
	for (int i = 0; i < TRIES && status; i++) {
		output->used = 0;
		status = run_well(run, &arguments, true, "list its images", output, err);
	}
	list_release(&arguments);
	return status;
}

/* Lists the ids of our images, each once. */
static int list_ids(const struct image_run *run, struct list *ret_ids, struct error *err)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(1 << 20);
	int status = ask_ids(run, &output, err);

	for (char *at = status ? NULL : (char *)buffer_text(&output), *line;
	     at && (line = strsep(&at, "\n"));)
		if (*line && !list_has(ret_ids, line))
			list_add(ret_ids, line);
	return status;
}

int image_store_find(const struct image_run *run, const char *name, struct image_list *ret_list,
		     struct error *err)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(16 << 20);
	AUTO_BUFFER struct buffer errors = BUFFER_INIT(1 << 20);
	struct list arguments = { 0 };
	int status;

	if (container_engine_check_image(name, err) < 0)
		return -1;
	list_add(&arguments, "image");
	list_add(&arguments, "inspect");
	list_add(&arguments, name);
	status = run_engine(run, &arguments, true, &output, &errors, err);
	list_release(&arguments);
	if (status == 0)
		return image_store_parse(buffer_text(&output), output.used, ret_list, err);
	if (status > 0 && !strcasestr(buffer_text(&errors), "no such image") &&
	    !strcasestr(buffer_text(&errors), "not known")) {
		AUTO_FREE char *said = tail_of(&errors);

		return error_set(err, "%s could not look for the image '%s': %s",
				 container_engine_name(run->engine->kind), name, said);
	}
	return status < 0 ? -1
			  : error_with(err, ERROR_NOT_FOUND, "%s has no image '%s'",
				       container_engine_name(run->engine->kind), name);
}

/* Adds an image, unless somebody has removed it in the meantime. */
static int add_found(const struct image_run *run, const char *id, struct image_list *list,
		     struct error *err)
{
	struct image_list found = { 0 };

	if (image_store_find(run, id, &found, err) < 0)
		return err->status == ERROR_NOT_FOUND ? 0 : -1;
	list->items = mem_resize(list->items, list->count + found.count, sizeof *list->items);
	for (size_t i = 0; i < found.count; i++)
		list->items[list->count++] = found.items[i];
	free(found.items);
	return 0;
}

int image_store_list(const struct image_run *run, struct image_list *ret_list, struct error *err)
{
	struct image_list list = { 0 };
	struct list ids = { 0 };
	int result = list_ids(run, &ids, err);

	for (size_t i = 0; i < ids.count && result == 0; i++)
		result = add_found(run, ids.items[i], &list, err);
	list_release(&ids);
	if (result < 0)
		image_list_release(&list);
	else
		*ret_list = list;
	return result < 0 ? -1 : 0;
}

/* ---- changing ---- */

int image_store_remove(const struct image_run *run, const char *name, struct error *err)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(1 << 20);
	struct list arguments = { 0 };
	int status;

	list_add(&arguments, "rmi");
	list_add(&arguments, name);
	status = run_well(run, &arguments, true, "remove the image", &output, err);
	list_release(&arguments);
	return status;
}

int image_store_pull(const struct image_run *run, const char *name, struct error *err)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(1 << 20);
	struct list arguments = { 0 };
	int status;

	list_add(&arguments, "pull");
	list_add(&arguments, name);
	status = run_well(run, &arguments, false, "pull the image", &output, err);
	list_release(&arguments);
	return status;
}

/* Calls add() with each label, as NAME=VALUE. */
static void add_labels(const struct image_labels *labels, struct list *list, const char *option,
		       const char *format)
{
	const struct {
		const char *name, *value;
	} all[] = { { "image", "1" },
		    { "name", labels->name },
		    { "kind", labels->kind },
		    { "agents", labels->agents },
		    { "recipe", labels->recipe } };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		AUTO_FREE char *label = mem_format("%s%s%s=%s", format, IMAGE_STORE_LABEL,
						   all[i].name, all[i].value);

		list_add(list, option);
		list_add(list, label);
	}
}

static void add_build(const struct image_run *run, const struct image_build *build,
		      struct list *arguments)
{
	list_add(arguments, "build");
	list_add(arguments, "--force-rm"); /* docker keeps the container of a step that fails */
	/* Steps of an earlier build could be removed together with its image, during this one. */
	if (build->quick)
		list_add(arguments, run->engine->kind == CONTAINER_ENGINE_PODMAN ? "--layers=false"
										 : "--no-cache");
	list_add(arguments, "-f");
	list_add(arguments, build->containerfile);
	list_add(arguments, "-t");
	list_add(arguments, build->labels.name);
	add_labels(&build->labels, arguments, "--label", "");
	if (build->target) {
		list_add(arguments, "--target");
		list_add(arguments, build->target);
	}
	for (size_t i = 0; build->arguments && i < build->arguments->count; i++) {
		list_add(arguments, "--build-arg");
		list_add(arguments, build->arguments->items[i]);
	}
	list_add(arguments, build->context);
}

int image_store_build(const struct image_run *run, const struct image_build *build,
		      struct error *err)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(16 << 20);
	struct list arguments = { 0 };
	int status;

	add_build(run, build, &arguments);
	status = run_well(run, &arguments, false, "build the image", &output, err);
	list_release(&arguments);
	return status;
}

int image_store_import(const struct image_run *run, const char *file,
		       const struct image_labels *labels, struct error *err)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(1 << 20);
	struct list arguments = { 0 };
	int status;

	list_add(&arguments, "import");
	add_labels(labels, &arguments, "-c", "LABEL ");
	list_add(&arguments, file);
	list_add(&arguments, labels->name);
	status = run_well(run, &arguments, false, "import the image", &output, err);
	list_release(&arguments);
	return status;
}
