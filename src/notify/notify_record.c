/* The marks of a notifier: see notify_record.h. */
#include "notify/notify_record.h"

#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define NAME "notify.json"

enum { RECORD_BYTES = 64 << 10 };

static json_t *load(const char *folder)
{
	AUTO_FD place = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(RECORD_BYTES);

	if (place < 0 || fd_read_file(place, NAME, &text) < 0)
		return NULL;
	return json_loadb(buffer_text(&text), text.used, 0, NULL);
}

static int64_t number(const json_t *object, const char *key)
{
	json_int_t value = jsonget_number(object, key);

	return value > 0 ? (int64_t)value : 0;
}

void notify_record_read(const char *folder, size_t count, struct notify_record *ret_record)
{
	json_t *object = load(folder);
	const json_t *targets = json_object_get(object, "targets");
	struct notify_record record = { .count = count, .pending = true };

	for (size_t i = 0; i < count && jsonget_number(object, "version") == 1; i++) {
		const json_t *target = json_array_get(targets, i);

		record.plans[i] = (struct notify_plan){
			.mark = number(target, "mark"),
			.through = number(target, "through"),
			.tries = (uint32_t)number(target, "tries"),
			.due_ms = number(target, "due_ms"),
			.paid_ms = number(target, "paid_ms"),
		};
	}
	record.heartbeat_ms = number(object, "heartbeat_ms");
	json_decref(object);
	*ret_record = record;
}

static json_t *plan_json(const struct notify_plan *plan)
{
	return json_pack("{s:I, s:I, s:i, s:I, s:I}", "mark", (json_int_t)plan->mark, "through",
			 (json_int_t)plan->through, "tries", (int)plan->tries, "due_ms",
			 (json_int_t)plan->due_ms, "paid_ms", (json_int_t)plan->paid_ms);
}

int notify_record_write(const char *folder, const struct notify_record *record, struct error *err)
{
	json_t *targets = json_array();
	json_t *object = json_pack("{s:i, s:b, s:I, s:o}", "version", 1, "pending", record->pending,
				   "heartbeat_ms", (json_int_t)record->heartbeat_ms, "targets",
				   targets);
	AUTO_FD place = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < record->count; i++)
		json_array_append_new(targets, plan_json(&record->plans[i]));

	AUTO_FREE char *text = json_dumps(object, JSON_COMPACT);

	json_decref(object);
	if (place < 0 || durable_replace(place, NAME, text, strlen(text), 0600) < 0)
		return error_sys(err, "write '%s/%s'", folder, NAME);
	return 0;
}

bool notify_record_is_pending(const char *folder)
{
	json_t *object = load(folder);
	bool pending = jsonget_flag(object, "pending");

	json_decref(object);
	return pending;
}
