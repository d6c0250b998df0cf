/* The record of landing: see land_record.h. */
#include "land/land_record.h"

#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define NAME "land.json"

enum { RECORD_BYTES = 64 << 10, VERSION = 1 };

static void read_commit(const json_t *object, const char *key, char ret_commit[LAND_COMMIT])
{
	const char *text = jsonget_text(object, key);

	if (strlen(text) < LAND_COMMIT)
		memcpy(ret_commit, text, strlen(text) + 1);
}

void land_record_read(const char *folder, struct land_record *ret_record)
{
	AUTO_FD place = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(RECORD_BYTES);
	json_t *object = NULL;

	*ret_record = (struct land_record){ 0 };
	if (place >= 0 && fd_read_file(place, NAME, &text) == 0)
		object = json_loadb(buffer_text(&text), text.used, 0, NULL);
	if (jsonget_number(object, "version") == VERSION) {
		ret_record->url = mem_copy(jsonget_string(object, "remote"));
		ret_record->forge = mem_copy(jsonget_string(object, "forge"));
		ret_record->page = mem_copy(jsonget_string(object, "url"));
		ret_record->number = jsonget_number(object, "number");
		ret_record->draft = jsonget_flag(object, "draft");
		ret_record->merged = jsonget_flag(object, "merged");
		read_commit(object, "pushing", ret_record->pushing);
		read_commit(object, "pushed", ret_record->pushed);
	}
	json_decref(object);
}

int land_record_write(const char *folder, const struct land_record *record, struct error *err)
{
	json_t *object = json_pack("{s:i, s:s*, s:s*, s:s*, s:I, s:s, s:s, s:b, s:b}", "version",
				   VERSION, "remote", record->url, "forge", record->forge, "url",
				   record->page, "number", (json_int_t)record->number, "pushing",
				   record->pushing, "pushed", record->pushed, "draft",
				   record->draft, "merged", record->merged);
	AUTO_FREE char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	AUTO_FD place = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	json_decref(object);
	if (!text)
		return error_with(err, ERROR_INVALID, "the remote's answer is not valid UTF-8");
	if (place < 0 || durable_replace(place, NAME, text, strlen(text), 0600) < 0)
		return error_sys(err, "write '%s/%s'", folder, NAME);
	return 0;
}

void land_record_release(struct land_record *record)
{
	free(record->url);
	free(record->forge);
	free(record->page);
	*record = (struct land_record){ 0 };
}
