/* The journal: see journal.h. */
#include "journal/journal.h"

#include "journal/journal_copy.h"
#include "journal/journal_head.h"
#include "journal/journal_still.h"
#include "util/buffer.h"
#include "util/env.h"
#include "util/mem.h"
#include "util/text/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT = 1, BUSY_MS = 5000 };

/* The process names of supervisors: of a loop, and of a batch. */
#define SUPERVISOR       "ringfence-loop"
#define BATCH_SUPERVISOR "ringfence-work"

/* The functions by which SQLite uses the database's file; see map_index(). */
struct journal_file {
	sqlite3_io_methods methods; /* first: SQLite points to it */
	const sqlite3_io_methods *usual;
};

struct journal {
	sqlite3 *database;
	struct journal_file file;
	int64_t last;             /* the number of the last event that this process knows */
	char hash[SHA256_HEX];    /* of that event */
	bool known;               /* last and hash have been read */
	struct journal_head head; /* as it was before the events were read */
	bool later;               /* the next entry need not be synced */
	char *path;
	char *copy;   /* of the file, which is read instead; or NULL */
	dev_t device; /* of the file, when it was opened */
	ino_t inode;
	long appended; /* by this process; for the crash tests */
};

static const char schema[] =
	"CREATE TABLE event (seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, kind TEXT NOT NULL,"
	" data TEXT NOT NULL, hash TEXT NOT NULL);";

static int set_error(const struct journal *store, const char *what, struct error *err)
{
	return error_set(err, "%s the journal: %s", what, sqlite3_errmsg(store->database));
}

static int execute(struct journal *store, const char *sql, const char *what, struct error *err)
{
	return sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : set_error(store, what, err);
}

static int get_number(struct journal *store, const char *sql, int64_t *ret_number,
		      struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int result = 0;

	if (sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_ROW)
		result = set_error(store, "read", err);
	else
		*ret_number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return result;
}

/* A new database is complete or absent: one transaction writes schema and format. */
static int prepare(struct journal *store, const char *path, enum journal_mode mode,
		   struct error *err)
{
	int64_t format = 0;

	sqlite3_busy_timeout(store->database, BUSY_MS);
	sqlite3_extended_result_codes(store->database, 1);
	if (get_number(store, "PRAGMA user_version", &format, err) < 0)
		return -1;
	if (format > FORMAT)
		return error_set(
			err,
			"the journal '%s' was written by a newer version of Ringfence; update this one",
			path);
	if (format == 0 && mode != JOURNAL_CREATE)
		return error_set(err, "'%s' is not a journal", path);
	if (mode != JOURNAL_READ &&
	    execute(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;", "open", err) < 0)
		return -1;
	if (mode == JOURNAL_READ)
		return execute(store, "PRAGMA query_only=1", "open", err);
	if (format != 0)
		return 0;

	AUTO_FREE char *sql = mem_format("BEGIN; %s PRAGMA user_version=%d; COMMIT;", schema,
					 FORMAT);

	return execute(store, sql, "create", err);
}

/*
 * SQLite maps its index, a file, into memory, and makes it longer by one byte per page of 4096. If
 * the blocks of the disk are smaller, the rest of a page has none, and on a full disk a write to it
 * is SIGBUS. Here every page is made writable, or refused, before SQLite writes to it.
 */
static int map_index(sqlite3_file *file, int region, int size, int extend, void volatile **ret_map)
{
	const struct journal_file *methods = (const struct journal_file *)file->pMethods;
	int result = methods->usual->xShmMap(file, region, size, extend, ret_map);

	if (result != SQLITE_OK || !*ret_map ||
	    madvise((void *)*ret_map, (size_t)size, MADV_POPULATE_WRITE) == 0 || errno != EFAULT)
		return result;
	*ret_map = NULL;
	return SQLITE_FULL;
}

/* Puts map_index() in the place of SQLite's own function for this file. */
static void guard_index(struct journal *store)
{
	sqlite3_file *file = NULL;

	if (sqlite3_file_control(store->database, "main", SQLITE_FCNTL_FILE_POINTER, &file) !=
		    SQLITE_OK ||
	    !file || !file->pMethods || file->pMethods->iVersion < 2)
		return;
	store->file = (struct journal_file){ .methods = *file->pMethods, .usual = file->pMethods };
	store->file.methods.xShmMap = map_index;
	file->pMethods = &store->file.methods;
}

/* Whether SQLite fails because it cannot write, and a copy may be read instead. */
static bool cannot_write(const struct journal *store)
{
	switch (sqlite3_errcode(store->database) & 0xff) {
	case SQLITE_CANTOPEN:
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_READONLY:
		return true;
	default:
		return false;
	}
}

static int open_database(struct journal *store, const char *path, enum journal_mode mode,
			 struct error *err)
{
	static const int flags[] = {
		[JOURNAL_CREATE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
		[JOURNAL_WRITE] = SQLITE_OPEN_READWRITE,
		/* A reader may have to recover the log after a crash. */
		[JOURNAL_READ] = SQLITE_OPEN_READWRITE,
	};

	if (sqlite3_open_v2(path, &store->database,
			    flags[mode] | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return error_set(err, "open the journal '%s': %s", path,
				 sqlite3_errmsg(store->database));
	guard_index(store);
	return prepare(store, path, mode, err);
}

/* Reads a journal that nobody writes from memory. Returns -1 without an error if that is not
 * possible. */
static int open_still(struct journal *store, const char *path)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(JOURNAL_STILL_BYTES);
	struct error ignored;
	unsigned char *copy = NULL;

	if (!journal_still_read(path, &bytes))
		return -1;
	copy = sqlite3_malloc64(bytes.used);
	if (!copy)
		return -1;
	memcpy(copy, bytes.data, bytes.used);
	if (sqlite3_open_v2(":memory:", &store->database,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
	    /* This also frees the copy, even if it fails. */
	    sqlite3_deserialize(store->database, "main", copy, (sqlite3_int64)bytes.used,
				(sqlite3_int64)bytes.used,
				SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) ==
		    SQLITE_OK &&
	    prepare(store, path, JOURNAL_READ, &ignored) == 0)
		return 0;
	sqlite3_close(store->database);
	store->database = NULL;
	return -1;
}

/* Reads a copy after the journal itself could not be opened. */
static int open_copy(struct journal *store, const char *path, struct error *err)
{
	struct error why;

	sqlite3_close(store->database);
	store->database = NULL;
	if (journal_copy_make(path, &store->copy, &why) < 0)
		return -1; /* the first error says more */
	return open_database(store, store->copy, JOURNAL_READ, err);
}

int journal_open(const char *path, enum journal_mode mode, struct journal **ret_store,
		 struct error *err)
{
	struct journal *store = mem_zero(sizeof *store);
	struct stat status;
	int result = mode == JOURNAL_READ ? open_still(store, path) : -1;

	if (result < 0)
		result = open_database(store, path, mode, err);
	if (result < 0 && mode == JOURNAL_READ && access(path, R_OK) == 0 && cannot_write(store))
		result = open_copy(store, path, err);
	if (result == 0 && stat(path, &status) < 0)
		result = error_sys(err, "stat the journal '%s'", path);
	if (result < 0) {
		journal_close(store);
		store = NULL;
	} else {
		store->path = mem_dup(path);
		store->device = status.st_dev;
		store->inode = status.st_ino;
	}
	*ret_store = store;
	return result;
}

const char *journal_copied_why(const struct journal *store)
{
	return store->copy ? journal_copy_reason(store->path) : NULL;
}

/* Appends to a deleted file would succeed forever and never be read. */
static int check_exists(const struct journal *store, struct error *err)
{
	struct stat status;

	if (stat(store->path, &status) < 0 || status.st_dev != store->device ||
	    status.st_ino != store->inode)
		return error_set(err, "the journal '%s' was removed or replaced", store->path);
	return 0;
}

void journal_close(struct journal *store)
{
	if (!store)
		return;
	sqlite3_close(store->database);
	if (store->copy)
		journal_copy_remove(store->copy);
	free(store->copy);
	free(store->path);
	free(store);
}

bool journal_is_blank(const char *path)
{
	struct journal store = { 0 };
	struct error ignored;
	int64_t tables = 1;

	if (sqlite3_open_v2(path, &store.database,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX,
			    NULL) == SQLITE_OK)
		get_number(&store, "SELECT count(*) FROM sqlite_master", &tables, &ignored);
	sqlite3_close(store.database);
	return tables == 0;
}

/* Hashes an event and the previous hash. Every part ends in a byte that it cannot contain. */
static void make_hash(const char *before, const struct journal_event *event, char *ret_hash)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(256 << 20);

	buffer_printf(&text, "%s\n%lld\n%lld\n%s\n", before, (long long)event->seq,
		      (long long)event->at_ms, event->kind);
	buffer_add_text(&text, event->data);
	sha256_hex(text.data, text.used, ret_hash);
}

static int read_row(struct journal *store, sqlite3_stmt *statement, struct journal_event *ret_event,
		    struct error *err)
{
	const char *kind = (const char *)sqlite3_column_text(statement, 2);
	const char *data = (const char *)sqlite3_column_text(statement, 3);
	const char *hash = (const char *)sqlite3_column_text(statement, 4);
	char wanted[SHA256_HEX];

	*ret_event = (struct journal_event){ .seq = sqlite3_column_int64(statement, 0),
					     .at_ms = sqlite3_column_int64(statement, 1),
					     .kind = kind ? kind : "",
					     .data = data ? data : "" };
	make_hash(store->hash, ret_event, wanted);
	if (ret_event->seq != store->last + 1 || !hash || strcmp(hash, wanted) != 0)
		return error_set(
			err,
			"the journal is damaged at event %lld: it was edited, truncated or torn after it was written",
			(long long)(store->last + 1));
	if (ret_event->seq == store->head.seq && strcmp(store->head.hash, wanted) != 0)
		return error_set(
			err,
			"the journal is damaged at event %lld: it was rewritten (journal.head "
			"has another hash)",
			(long long)ret_event->seq);
	store->last = ret_event->seq;
	memcpy(store->hash, wanted, sizeof wanted);
	return 0;
}

/* Whether the events that journal.head knows are all there. */
static int check_head(const struct journal *store, struct error *err)
{
	if (store->last >= store->head.seq)
		return 0;
	return error_set(
		err,
		"the journal is damaged: its last events are missing, from %lld to %lld at "
		"least (journal.head)",
		(long long)(store->last + 1), (long long)store->head.seq);
}

/* Reads the rows after the last known event. */
static int read_rows(struct journal *store, sqlite3_stmt *statement, int64_t after,
		     journal_fn *take, void *context, struct error *err)
{
	int step;

	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		struct journal_event event;

		if (read_row(store, statement, &event, err) < 0 ||
		    (event.seq > after && take && take(context, &event, err) < 0))
			return -1;
	}
	return step == SQLITE_DONE ? check_head(store, err) : set_error(store, "read", err);
}

/* Reads from the mark on, and passes the events after `after` to the function. */
static int read_from(struct journal *store, const struct journal_mark *mark, int64_t after,
		     journal_fn *take, void *context, struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int result;

	store->last = mark->seq;
	memcpy(store->hash, mark->hash, sizeof store->hash);
	store->known = false;
	/* First: the writer may go on in the meantime. */
	journal_head_read(store->path, &store->head);
	if (sqlite3_prepare_v2(store->database,
			       "SELECT seq, at_ms, kind, data, hash FROM event WHERE seq > ? "
			       "ORDER BY seq",
			       -1, &statement, NULL) != SQLITE_OK)
		return set_error(store, "read", err);
	sqlite3_bind_int64(statement, 1, mark->seq);
	result = read_rows(store, statement, after, take, context, err);
	sqlite3_finalize(statement);
	store->known = result == 0;
	return result;
}

int journal_each(struct journal *store, int64_t after, journal_fn *take, void *context,
		 struct error *err)
{
	return read_from(store, &(struct journal_mark){ 0 }, after, take, context, err);
}

int journal_follow(struct journal *store, struct journal_mark *mark, journal_fn *take,
		   void *context, struct error *err)
{
	int result = read_from(store, mark, mark->seq, take, context, err);

	if (result == 0) {
		mark->seq = store->last;
		memcpy(mark->hash, store->hash, sizeof mark->hash);
	}
	return result;
}

/*
 * For the crash tests: RINGFENCE_FAULT=N kills this process, like kill -9, just before its event
 * number N is written; N+ just after. With a k appended, the supervisor's keeper is killed instead;
 * with a b, both are; with an s, the supervisor is stopped until it gets SIGCONT. With a w, only
 * the supervisor of a batch does any of this.
 */
static void fault(const struct journal *store, bool written)
{
	const char *wanted = env_get("RINGFENCE_FAULT");
	char name[16] = "";

	if (!wanted || strtol(wanted, NULL, 10) != store->appended ||
	    (strchr(wanted, '+') != NULL) != written)
		return;
	if (strpbrk(wanted, "kbsw") &&
	    (prctl(PR_GET_NAME, name) < 0 ||
	     strcmp(name, strchr(wanted, 'w') ? BATCH_SUPERVISOR : SUPERVISOR) != 0))
		return;
	if (strpbrk(wanted, "kb") && getppid() > 1)
		kill(getppid(), SIGKILL);
	if (!strchr(wanted, 'k'))
		kill(getpid(), strchr(wanted, 's') ? SIGSTOP : SIGKILL);
}

static int insert(struct journal *store, const struct journal_event *event, const char *hash,
		  struct error *err)
{
	sqlite3_stmt *statement = NULL;
	int result = 0;

	if (sqlite3_prepare_v2(store->database, "INSERT INTO event VALUES (?, ?, ?, ?, ?)", -1,
			       &statement, NULL) != SQLITE_OK)
		return set_error(store, "write", err);
	sqlite3_bind_int64(statement, 1, event->seq);
	sqlite3_bind_int64(statement, 2, event->at_ms);
	sqlite3_bind_text(statement, 3, event->kind, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 4, event->data, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 5, hash, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) != SQLITE_DONE)
		result = set_error(store, "write", err);
	sqlite3_finalize(statement);
	return result;
}

/* In a write-ahead log, syncing the last entry syncs all. */
static int set_sync(struct journal *store, enum journal_care care, struct error *err)
{
	if (store->later == (care == JOURNAL_LATER))
		return 0;
	store->later = care == JOURNAL_LATER;
	return execute(store,
		       store->later ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL",
		       "write", err);
}

int journal_append(struct journal *store, enum journal_care care, int64_t at_ms, const char *kind,
		   const char *data, struct error *err)
{
	struct journal_event event = { .at_ms = at_ms, .kind = kind, .data = data };
	char hash[SHA256_HEX];

	if (check_exists(store, err) < 0 ||
	    (!store->known && journal_each(store, INT64_MAX, NULL, NULL, err) < 0))
		return -1;
	event.seq = store->last + 1;
	make_hash(store->hash, &event, hash);
	store->appended++;
	fault(store, false);
	if (set_sync(store, care, err) < 0 || insert(store, &event, hash, err) < 0)
		return -1;
	store->last = event.seq;
	memcpy(store->hash, hash, sizeof hash);
	/* A power failure can take back an event that is not on disk. */
	if (care == JOURNAL_NOW)
		journal_head_write(store->path, store->last, store->hash);
	fault(store, true);
	return 0;
}
