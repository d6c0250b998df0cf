/* Listing, removing and trusting images: see op_image.h. */
#include "ops/op_image.h"

#include "config/trust.h"
#include "ops/image_source.h"
#include "ops/op_image_engine.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

enum op_status op_image_list(const struct op_image_target *target,
			     struct op_image_list_result *ret_result, struct error *err)
{
	struct container_engine engine;
	struct image_run run;
	struct image_list *images = &ret_result->images;
	size_t kept = 0;
	int result;

	*ret_result = (struct op_image_list_result){ 0 };
	if (op_image_engine_find(target, &engine, &run, err) < 0)
		return op_status_of(err);
	ret_result->engine = container_engine_name(engine.kind);
	result = image_store_list(&run, images, err);
	container_engine_release(&engine);
	for (size_t i = 0; i < images->count; i++) {
		struct image image = images->items[i];

		if (image.ours) {
			images->items[i] = images->items[kept];
			images->items[kept++] = image;
		}
	}
	while (images->count > kept)
		image_release(&images->items[--images->count]);
	return result < 0 ? OP_FAILED : OP_DONE;
}

void op_image_list_release(struct op_image_list_result *result)
{
	image_list_release(&result->images);
}

enum op_status op_image_remove(const struct op_image_target *target, const char *name,
			       struct error *err)
{
	struct image_list found = { 0 };
	struct container_engine engine;
	struct image_run run;
	int result;

	if (op_image_engine_find(target, &engine, &run, err) < 0)
		return op_status_of(err);
	result = image_store_find(&run, name, &found, err);
	if (result == 0 && (!found.count || !found.items[0].ours))
		result = error_with(
			err, ERROR_REFUSED,
			"the image '%s' was not built by ringfence image build: remove it "
			"with '%s rmi'",
			name, container_engine_name(engine.kind));
	if (result == 0)
		result = image_store_remove(&run, name, err);
	image_list_release(&found);
	container_engine_release(&engine);
	return result < 0 ? op_status_of(err) : OP_DONE;
}

/* ---- trust ---- */

static void make_question(const struct image_source *source, struct op_question *question)
{
	struct list lines = { 0 };

	image_source_honoured(source, &lines);
	list_printf(&lines, "content: sha256 %s", source->hash);
	for (size_t i = 0; i < lines.count; i++) {
		const size_t name = strcspn(lines.items[i], ":");
		AUTO_FREE char *key = mem_format("%.*s", (int)name, lines.items[i]);
		const struct op_item item = { .name = key,
					      .value = lines.items[i] + name + 2,
					      .where = source->file };

		op_question_add(question, &item);
	}
	list_release(&lines);
	op_question_set(question, OP_QUESTION_TRUST, mem_dup("Trust this?"));
}

enum op_status op_image_trust(const struct op_image_trust_request *request,
			      struct op_image_trust_result *ret_result, struct error *err)
{
	struct image_source source;
	int trusted;

	*ret_result = (struct op_image_trust_result){ 0 };
	if (image_source_load(request->project, -1, &source, err) < 0)
		return op_status_of(err);
	make_question(&source, &ret_result->question);
	ret_result->file = mem_dup(source.file);
	for (size_t i = 0; i < source.found.ignored.count; i++)
		list_add(&ret_result->ignored, source.found.ignored.items[i]);
	trusted = image_source_trusted(request->state, &source, err);
	if (trusted == 0 && op_agreed(&request->answer, &ret_result->question))
		trusted = trust_record(request->state, source.file, source.hash,
				       (uint64_t)request->now_s, err) < 0
				  ? -1
				  : 2;
	image_source_release(&source);
	return trusted < 0    ? OP_FAILED
	       : trusted == 0 ? OP_ASKS
	       : trusted == 1 ? OP_UNCHANGED
			      : OP_DONE;
}

void op_image_trust_release(struct op_image_trust_result *result)
{
	op_question_release(&result->question);
	list_release(&result->ignored);
	free(result->file);
}

enum op_status op_image_untrust(const char *state, const char *project, struct error *err)
{
	bool any = false;
	const char *file;

	for (size_t i = 0; (file = image_source_place(i)); i++) {
		AUTO_FREE char *path = path_join(project, file);
		int was = 0;

		if (trust_forget(state, path, &was, err) < 0)
			return OP_FAILED;
		any = any || was;
	}
	return any ? OP_DONE : OP_UNCHANGED;
}
