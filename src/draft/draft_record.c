/* Drafts in the state folder: see draft_record.h. */
#include "draft/draft_record.h"

#include "util/buffer.h"
#include "util/clock.h"
#include "util/file/dirwalk.h"
#include "util/file/disk_usage.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/id.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORD "record.json"
#define GONE   ".removed-"

enum { VERSION = 1, MOST_BYTES = 1 << 20 };

static int open_folder(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? error_sys(err, "open '%s'", path) : fd;
}

/* ---- the record ---- */

int draft_record_write(const struct draft_record *record, struct error *err)
{
	AUTO_FD folder = open_folder(record->folder, err);
	json_t *json = json_pack("{s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:I, s:I}", "version",
				 VERSION, "project", record->project, "command", record->command,
				 "began_ms", (json_int_t)record->began_ms, "code",
				 (json_int_t)record->code, "result", (json_int_t)record->result,
				 "spent", (json_int_t)record->spent, "ignored", record->ignored,
				 "used_ms", (json_int_t)record->used_ms, "bytes",
				 (json_int_t)record->bytes);
	AUTO_FREE char *line = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
	int result = 0;

	json_decref(json);
	if (folder < 0)
		return -1;
	if (!line)
		return error_with(err, ERROR_INVALID,
				  "the project's path or the command is not valid UTF-8: '%s'",
				  record->project);
	if (durable_replace(folder, RECORD, line, strlen(line), 0600) < 0)
		result = error_sys(err, "write '%s/" RECORD "'", record->folder);
	return result;
}

/* Reads a number that records of earlier versions lack. */
static int64_t parse_number(const json_t *json, const char *key, int64_t missing)
{
	return json_object_get(json, key) ? jsonget_number(json, key) : missing;
}

static int parse(json_t *json, struct draft_record *record, struct error *err)
{
	if (jsonget_number(json, "version") != VERSION || !*jsonget_text(json, "project"))
		return error_with(err, ERROR_INVALID,
				  "the draft '%s' is damaged, or of another version of Ringfence",
				  record->folder);
	record->project = mem_dup(jsonget_text(json, "project"));
	record->command = mem_dup(jsonget_text(json, "command"));
	record->began_ms = jsonget_number(json, "began_ms");
	record->code = jsonget_number(json, "code");
	record->result = jsonget_number(json, "result");
	record->spent = parse_number(json, "spent", DRAFT_RECORD_NONE);
	record->ignored = jsonget_flag(json, "ignored");
	record->used_ms = parse_number(json, "used_ms", record->began_ms);
	record->bytes = parse_number(json, "bytes", DRAFT_RECORD_NONE);
	return 0;
}

int draft_record_find(const char *state, const char *id, struct draft_record *ret_record,
		      struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(MOST_BYTES);
	struct draft_record record = { .id = mem_dup(id),
				       .folder = mem_format("%s/drafts/%s", state, id),
				       .layers = mem_format("%s/drafts/%s/layers", state, id),
				       .lock = -1 };
	AUTO_FD folder = -1;
	json_t *json = NULL;
	int result = -1;

	if (strchr(id, '/') || id[0] == '.' || !*id)
		errno = ENOENT;
	else
		folder = open(record.folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 && errno == ENOENT)
		error_with(err, ERROR_NOT_FOUND, "there is no draft '%s' (see: ringfence drafts)",
			   id);
	else if (folder < 0 || fd_read_file(folder, RECORD, &text) < 0)
		error_sys(err, "read '%s/" RECORD "'", record.folder);
	else {
		json = json_loadb(text.data ? text.data : "", text.used, 0, NULL);
		result = parse(json, &record, err);
	}
	json_decref(json);
	if (result == 0)
		*ret_record = record;
	else
		draft_record_release(&record);
	return result;
}

void draft_record_release(struct draft_record *record)
{
	free(record->id);
	free(record->folder);
	free(record->layers);
	free(record->project);
	free(record->command);
	free(record->commit);
	fd_close(&record->lock);
	*record = (struct draft_record){ .lock = -1 };
}

/* ---- locks ---- */

/* Returns the locked file, or -1 with errno. */
static int take_lock(const char *folder)
{
	AUTO_FREE char *path = path_join(folder, "lock");
	AUTO_FD lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
		return -1;
	return fd_steal(&lock);
}

static int fail_busy(const struct draft_record *record, struct error *err)
{
	return error_with(err, ERROR_BUSY, "a command is running in draft %s", record->id);
}

int draft_record_lock(struct draft_record *record, struct error *err)
{
	record->lock = take_lock(record->folder);
	if (record->lock >= 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return fail_busy(record, err);
	return error_sys(err, "lock the draft '%s'", record->folder);
}

bool draft_record_is_busy(const struct draft_record *record)
{
	AUTO_FD lock = take_lock(record->folder);

	return lock < 0 && errno == EWOULDBLOCK;
}

bool draft_record_is_interrupted(const struct draft_record *record)
{
	return record->code == DRAFT_RECORD_NONE || record->result == DRAFT_RECORD_NONE;
}

bool draft_record_is_spent(const struct draft_record *record)
{
	return !draft_record_is_interrupted(record) && record->spent == record->result;
}

uint64_t draft_records_bytes(const struct draft_records *records)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < records->count; i++) {
		const struct draft_record *record = &records->items[i];

		sum += record->bytes == DRAFT_RECORD_NONE ? disk_usage_bytes(record->folder, NULL)
							  : (uint64_t)record->bytes;
	}
	return sum;
}

int draft_record_check_result(const struct draft_record *record, struct error *err)
{
	if (!draft_record_is_interrupted(record))
		return 0;
	if (record->lock < 0 && draft_record_is_busy(record))
		return fail_busy(record, err);
	return error_with(err, ERROR_INVALID,
			  "draft %s has no result of its last command, which was interrupted (to "
			  "continue: ringfence exec --in %s -- COMMAND)",
			  record->id, record->id);
}

/* ---- folders ---- */

/* Calls `use` for each entry of the folder that may be a draft. */
typedef void entry_fn(void *context, int drafts, const char *name);

static void each_entry(int drafts, entry_fn *use, void *context)
{
	int copy = openat(drafts, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			use(context, drafts, entry->d_name);
	if (dir)
		closedir(dir);
}

/* Removes a draft whose creation or removal was interrupted. */
static void remove_leftover(void *context, int drafts, const char *name)
{
	AUTO_FREE char *record = path_join(name, RECORD);

	(void)context;
	if (strncmp(name, GONE, strlen(GONE)) == 0 ||
	    (faccessat(drafts, record, F_OK, 0) < 0 && errno == ENOENT))
		dirwalk_remove(drafts, name, NULL);
}

/* Opens the folder of all drafts and locks it, so that no other process creates or removes one.
 * Returns its descriptor, or -1 with err set. */
static int hold_drafts(const char *path, struct error *err)
{
	AUTO_FD drafts = -1;

	if (state_folder_make(path, 0700) < 0)
		return error_sys(err, "create '%s'", path);
	drafts = open_folder(path, err);
	if (drafts < 0)
		return -1;
	if (flock(drafts, LOCK_EX) < 0)
		return error_sys(err, "lock '%s'", path);
	return fd_steal(&drafts);
}

static int make_folder(const char *path, struct error *err)
{
	return mkdir(path, 0700) < 0 ? error_sys(err, "create '%s'", path) : 0;
}

int draft_record_create(const char *state, const char *project, const char *command,
			struct draft_record *ret_record, struct error *err)
{
	AUTO_FREE char *path = path_join(state, "drafts");
	AUTO_FD drafts = hold_drafts(path, err);
	AUTO_FREE char *id = id_new();
	struct draft_record record = { .began_ms = clock_wall_ms(),
				       .code = DRAFT_RECORD_NONE,
				       .result = DRAFT_RECORD_NONE,
				       .spent = DRAFT_RECORD_NONE,
				       .bytes = DRAFT_RECORD_NONE,
				       .lock = -1 };

	record.used_ms = record.began_ms;
	if (drafts < 0)
		return -1;
	each_entry(drafts, remove_leftover, NULL);
	record.id = mem_dup(id);
	record.folder = path_join(path, id);
	record.layers = path_join(record.folder, "layers");
	record.project = mem_dup(project);
	record.command = mem_dup(command);
	if (make_folder(record.folder, err) < 0 || draft_record_lock(&record, err) < 0 ||
	    draft_record_write(&record, err) < 0) {
		draft_record_release(&record);
		return -1;
	}
	*ret_record = record;
	return 0;
}

/* The rename is atomic: the draft exists as a whole, or not at all. */
int draft_record_remove(struct draft_record *record, uint64_t *bytes, struct error *err)
{
	AUTO_FREE char *path = path_folder(record->folder);
	AUTO_FREE char *gone = mem_format(GONE "%s", record->id);
	AUTO_FD drafts = hold_drafts(path, err);

	if (drafts < 0)
		return -1;
	if (renameat(drafts, record->id, drafts, gone) < 0 ||
	    dirwalk_remove(drafts, gone, bytes) < 0)
		return error_sys(err, "remove the draft '%s'", record->folder);
	return 0;
}

/* ---- the list ---- */

struct listing {
	const char *state;
	struct draft_records records;
};

static void add_record(void *context, int drafts, const char *name)
{
	struct listing *listing = context;
	struct draft_records *records = &listing->records;
	struct draft_record record;
	struct error ignored;

	(void)drafts;
	if (draft_record_find(listing->state, name, &record, &ignored) < 0)
		return;
	records->items = mem_extend(records->items, records->count, sizeof *records->items);
	records->items[records->count++] = record;
}

/* Ids of the same second are in no order. */
static int by_age(const void *a, const void *b)
{
	const struct draft_record *one = a, *other = b;

	if (one->began_ms != other->began_ms)
		return one->began_ms < other->began_ms ? -1 : 1;
	return strcmp(one->id, other->id);
}

void draft_records_sort(struct draft_records *records)
{
	if (records->count)
		qsort(records->items, records->count, sizeof *records->items, by_age);
}

int draft_record_list(const char *state, struct draft_records *ret_records, struct error *err)
{
	AUTO_FREE char *path = path_join(state, "drafts");
	AUTO_FD drafts = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct listing listing = { .state = state };

	if (drafts < 0 && errno != ENOENT)
		return error_sys(err, "open '%s'", path);
	if (drafts >= 0)
		each_entry(drafts, add_record, &listing);
	draft_records_sort(&listing.records);
	*ret_records = listing.records;
	return 0;
}

void draft_records_release(struct draft_records *records)
{
	for (size_t i = 0; i < records->count; i++)
		draft_record_release(&records->items[i]);
	free(records->items);
	*records = (struct draft_records){ 0 };
}
