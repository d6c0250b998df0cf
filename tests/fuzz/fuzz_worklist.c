// sources: src/worklist/worklist.c src/worklist/worklist_build.c src/worklist/worklist_model.c
// sources: src/worklist/worklist_json.c src/worklist/worklist_markdown.c
// sources: src/worklist/worklist_place.c src/worklist/worklist_yaml.c src/config/yaml.c
// sources: src/config/problem.c src/decision/boxes.c src/decision/lines.c -ljansson -lyaml
/* A list of tasks: the first byte chooses its name. Marking an item and taking that
 * back a second time has the same result as the first time. */
#include "fuzz.h"

#include "worklist/worklist.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = WORKLIST_BYTES_MAX + 4096 };

static bool tick(const char *path, const struct buffer *bytes, const char *id, bool done,
		 struct buffer *ret_bytes)
{
	struct error err;

	*ret_bytes = BUFFER_INIT(MOST);
	return worklist_tick(path, bytes->data, bytes->used, id, done, ret_bytes, &err) == 1;
}

/* Marks an item and takes that back, twice. The first time may change more: "X" becomes " ". */
static void tick_twice(const char *path, const struct buffer *bytes,
		       const struct worklist_item *item)
{
	AUTO_BUFFER struct buffer first = { 0 };
	AUTO_BUFFER struct buffer back = { 0 };
	AUTO_BUFFER struct buffer second = { 0 };
	AUTO_BUFFER struct buffer again = { 0 };

	if (tick(path, bytes, item->id, !item->done, &first) &&
	    tick(path, &first, item->id, item->done, &back) &&
	    (!tick(path, &back, item->id, !item->done, &second) ||
	     !tick(path, &second, item->id, item->done, &again) || again.used != back.used ||
	     memcmp(again.data, back.data, back.used) != 0))
		abort();
}

void fuzz_worklist(const uint8_t *data, size_t size)
{
	static const char *const paths[] = { "TASKS.md", "tasks.yml", "issues.jsonl", "list" };
	const char *path = paths[size ? data[0] % 4 : 0];
	const char *bytes = (const char *)data + (size > 0);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(MOST);
	struct worklist list = { 0 };
	struct error err;

	size -= size > 0;
	buffer_add(&text, bytes, size);
	if (worklist_add(&list, path, bytes, size, &err) == 0 && worklist_finish(&list, &err) == 0)
		for (size_t i = 0; i < list.count && i < 8; i++) {
			json_t *json = worklist_item_json(&list, &list.items[i]);

			if (!json)
				abort();
			json_decref(json);
			tick_twice(path, &text, &list.items[i]);
		}
	worklist_model_release(&list);
}

FUZZ_TARGET(fuzz_worklist)
