/* Journals that nobody writes, and what a journal does when its files are not as they were. */
#include "unit.h"

#include "journal/journal.h"
#include "journal/journal_copy.h"
#include "journal/journal_head.h"
#include "journal/journal_still.h"
#include "util/buffer.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

enum { HEADER = 100, WRITE_VERSION = 18, READ_VERSION = 19, LONG_AGO_S = 60 };

static char folder[UNIT_PATH];
static char *path;
static char header[HEADER];

static void settle(time_t seconds_ago)
{
	const struct timespec times[2] = { { .tv_sec = time(NULL) - seconds_ago },
					   { .tv_sec = time(NULL) - seconds_ago } };

	if (utimensat(AT_FDCWD, path, times, 0) < 0)
		abort();
}

/* Writes this many bytes of the header, as of long ago. */
static void write_header(size_t size)
{
	FILE *file = fopen(path, "we");

	if (!file || fwrite(header, 1, size, file) != size || fclose(file) != 0)
		abort();
	settle(LONG_AGO_S);
}

static bool reads(const char *of)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(JOURNAL_STILL_BYTES + 1);

	return journal_still_read(of, &bytes) && bytes.used >= HEADER &&
	       bytes.data[WRITE_VERSION] == 1 && bytes.data[READ_VERSION] == 1;
}

static void still(void)
{
	AUTO_FREE char *log = mem_format("%s-wal", path);
	AUTO_FREE char *link = path_join(folder, "link.db");

	header[WRITE_VERSION] = header[READ_VERSION] = 2;
	write_header(HEADER);
	CHECK("a database that nobody has written for a while is read", reads(path));
	settle(0);
	CHECK("one that was written just now is not", !reads(path));
	settle(-LONG_AGO_S);
	CHECK("nor one from the future", !reads(path));
	settle(LONG_AGO_S);
	if (symlink("journal.db", link) < 0 || symlink("nothing", log) < 0)
		abort();
	CHECK("a symlink is not followed", !reads(link));
	CHECK("a symlink to nothing does not count as a log", reads(path));
	unlink(log);
	if (mkdir(log, 0700) < 0)
		abort();
	CHECK("a database with a log is left to SQLite", !reads(path));
	rmdir(log);
	CHECK("a folder is not a database", !reads(folder));
	CHECK("a missing file is not a database", !reads(log));
	unlink(link);
}

static void unwritable(void)
{
	if (chmod(path, 0400) < 0)
		abort();
	CHECK("a database that cannot be written is left to SQLite", !reads(path));
	if (chmod(path, 0600) < 0 || chmod(folder, 0500) < 0)
		abort();
	CHECK("so is one in a folder that cannot be written", !reads(path));
	if (chmod(folder, 0700) < 0)
		abort();
	CHECK("with both it is read", reads(path));
}

static void headers(void)
{
	write_header(HEADER - 1);
	CHECK("half a header is not a database", !reads(path));
	header[WRITE_VERSION] = 1;
	write_header(HEADER);
	CHECK("a database without a log to write is left to SQLite", !reads(path));
	header[WRITE_VERSION] = 2;
	header[READ_VERSION] = 1;
	write_header(HEADER);
	CHECK("so is one without a log to read", !reads(path));
	header[READ_VERSION] = 2;
	write_header(HEADER);
	if (truncate(path, JOURNAL_STILL_BYTES) < 0)
		abort();
	settle(LONG_AGO_S);
	CHECK("a database of 16 MiB is read", reads(path));
	if (truncate(path, JOURNAL_STILL_BYTES + 1) < 0)
		abort();
	settle(LONG_AGO_S);
	CHECK("a larger one is left to SQLite", !reads(path));
	unlink(path);
}

static struct journal *create(void)
{
	struct journal *store = NULL;
	struct error err;

	if (journal_open(path, JOURNAL_CREATE, &store, &err) < 0)
		abort();
	return store;
}

static int64_t head_of(struct journal_head *ret_head)
{
	journal_head_read(path, ret_head);
	return ret_head->seq;
}

static void heads(void)
{
	struct journal *store = create();
	struct journal_head head;
	struct error err;

	(void)(journal_append(store, JOURNAL_NOW, 1, "a", "{}", &err) < 0 ||
	       journal_append(store, JOURNAL_NOW, 2, "b", "{}", &err) < 0);
	CHECK("an event that must be on disk is the head", head_of(&head) == 2);
	CHECK("an event that may be lost is not the head",
	      journal_append(store, JOURNAL_LATER, 3, "c", "{}", &err) == 0 && head_of(&head) == 2);
	CHECK("the next one that must be on disk is",
	      journal_append(store, JOURNAL_NOW, 4, "d", "{}", &err) == 0 && head_of(&head) == 4);
	journal_close(store);
	journal_head_write(path, 6, head.hash);
	CHECK("events that the head knows and the journal lacks are damage, with their numbers",
	      journal_open(path, JOURNAL_READ, &store, &err) == 0 &&
		      journal_each(store, 0, NULL, NULL, &err) < 0 &&
		      strstr(err.text, "from 5 to 6 at least"));
	journal_close(store);
	journal_head_write(path, 4, head.hash);
	CHECK("a head that the journal has is not",
	      journal_open(path, JOURNAL_READ, &store, &err) == 0 &&
		      journal_each(store, 0, NULL, NULL, &err) == 0);
	journal_close(store);
}

static void copies(void)
{
	AUTO_FREE char *copy = NULL;
	AUTO_FREE char *missing = path_join(folder, "none/journal.db");
	struct journal *store = NULL;
	struct error err;

	CHECK("a copy is made in /tmp, if that can be written",
	      journal_copy_make(path, &copy, &err) == 0 &&
		      strncmp(copy, "/tmp/ringfence-", 15) == 0);
	journal_copy_remove(copy);
	unlink(path);
	if (mkdir(path, 0700) < 0)
		abort();
	CHECK("a journal that can be neither opened nor copied is an error",
	      journal_open(path, JOURNAL_READ, &store, &err) < 0 && !store);
	CHECK("so is one in a folder that is missing",
	      journal_open(missing, JOURNAL_READ, &store, &err) < 0 && !store);
}

int main(void)
{
	enum { SOME_USER = 12345 };

	/* Root could write everything. */
	if (!unit_temp(folder) ||
	    (getuid() == 0 && (chown(folder, SOME_USER, SOME_USER) < 0 ||
			       setresgid(SOME_USER, SOME_USER, SOME_USER) < 0 ||
			       setresuid(SOME_USER, SOME_USER, SOME_USER) < 0)))
		return 1;
	path = path_join(folder, "journal.db");
	still();
	unwritable();
	headers();
	heads();
	copies();
	free(path);
	return unit_failures > 0;
}
