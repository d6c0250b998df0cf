/* The journal: its events, its head, and the copy for a disk that cannot be written. Uses a
 * temporary folder. */
#include "unit.h"

#include "journal/journal.h"
#include "journal/journal_copy.h"
#include "journal/journal_head.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder;

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file)
		abort();
	fputs(text, file);
	fclose(file);
}

static bool has_text(const char *path, const char *text)
{
	AUTO_BUFFER struct buffer content = BUFFER_INIT(1000);

	return fd_read_file(AT_FDCWD, path, &content) == 0 &&
	       strcmp(buffer_text(&content), text) == 0;
}

static bool exists(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* --- the head */

static bool reads_nothing(const char *path, const char *head, const char *text)
{
	struct journal_head read = { .seq = 5 };

	write_text(head, text);
	journal_head_read(path, &read);
	return read.seq == 0 && !read.hash[0];
}

static void heads(void)
{
	AUTO_FREE char *path = path_join(folder, "journal.db");
	AUTO_FREE char *head = path_join(folder, "journal.head");
	AUTO_FREE char *real = path_join(folder, "real");
	AUTO_BUFFER struct buffer good = BUFFER_INIT(1000);
	struct journal_head read = { .seq = 5 };
	char hash[SHA256_HEX];

	sha256_hex("x", 1, hash);
	journal_head_read(path, &read);
	CHECK("without a file, the head is unknown", read.seq == 0 && !read.hash[0]);
	journal_head_write(path, 123, hash);
	journal_head_read(path, &read);
	CHECK("a head is read as it was written", read.seq == 123 && strcmp(read.hash, hash) == 0);
	journal_head_write(path, 7, hash);
	journal_head_read(path, &read);
	CHECK("a later head replaces it", read.seq == 7);
	if (fd_read_file(AT_FDCWD, head, &good) < 0)
		abort();

	char *text = mem_dup(buffer_text(&good));
	size_t size = strlen(text);
	char *blank = strchr(text, ' ');
	char last = text[size - 1];

	*blank = '0';
	CHECK("a number that does not end is a torn head", reads_nothing(path, head, text));
	*blank = ' ';
	text[0] = 'x';
	CHECK("so is a number that is not one", reads_nothing(path, head, text));
	text[0] = '0';
	text[size - 1] = '0';
	CHECK("so is a line without an end", reads_nothing(path, head, text));
	text[size - 1] = last;
	text[size / 2] = '\0';
	CHECK("so is half a line", reads_nothing(path, head, text));
	free(text);
	write_text(real, buffer_text(&good));
	if (unlink(head) < 0 || symlink("real", head) < 0)
		abort();
	journal_head_read(path, &read);
	CHECK("a symlink is not followed", read.seq == 0);
	journal_head_write(path, 9, hash);
	CHECK("nor written through", has_text(real, buffer_text(&good)));
	unlink(head);
	unlink(real);
}

/* --- the copy */

static void copies(void)
{
	AUTO_FREE char *path = path_join(folder, "j.db");
	AUTO_FREE char *log = path_join(folder, "j.db-wal");
	AUTO_FREE char *copy = NULL;
	struct error err;

	write_text(path, "the database");
	CHECK("a database without a log is copied",
	      journal_copy_make(path, &copy, &err) == 0 && has_text(copy, "the database"));
	journal_copy_remove(copy);
	free(copy);
	copy = NULL;
	write_text(log, "the log");
	if (journal_copy_make(path, &copy, &err) < 0)
		abort();

	AUTO_FREE char *copied_log = mem_format("%s-wal", copy);
	AUTO_FREE char *place = path_folder(copy);
	struct stat status;

	CHECK("a database is copied with its log",
	      has_text(copy, "the database") && has_text(copied_log, "the log"));
	CHECK("nobody else can read the copy",
	      stat(place, &status) == 0 && (status.st_mode & 0777) == 0700 &&
		      stat(copy, &status) == 0 && (status.st_mode & 0777) == 0600);
	journal_copy_remove(copy);
	CHECK("a copy is removed with its folder", !exists(place));
	unlink(log);
	if (mkdir(log, 0755) < 0)
		abort();
	free(copy);
	copy = NULL;
	CHECK("a log that cannot be read is an error",
	      journal_copy_make(path, &copy, &err) < 0 && strstr(err.text, "j.db-wal") && !copy);
	rmdir(log);
	if (symlink("j.db", log) < 0)
		abort();
	CHECK("so is a symlink in its place",
	      journal_copy_make(path, &copy, &err) < 0 && strstr(err.text, "j.db-wal"));
	CHECK("a folder that is missing cannot be examined",
	      strcmp(journal_copy_reason("/nonexistent/x"), "its disk cannot be examined") == 0);
	CHECK("the reason for a disk that can be written is that it is full",
	      strcmp(journal_copy_reason(path), "its disk is full") == 0);
	unlink(log);
	unlink(path);
}

/* --- events */

static int collect(void *context, const struct journal_event *event, struct error *err)
{
	(void)err;
	buffer_printf(context, "%lld %lld %s %s;", (long long)event->seq, (long long)event->at_ms,
		      event->kind, event->data);
	return 0;
}

static int stop(void *context, const struct journal_event *event, struct error *err)
{
	(void)event;
	++*(int *)context;
	return error_set(err, "stopped here");
}

static void events(void)
{
	AUTO_FREE char *path = path_join(folder, "journal.db");
	AUTO_BUFFER struct buffer all = BUFFER_INIT(1000);
	AUTO_BUFFER struct buffer last = BUFFER_INIT(1000);
	struct journal *store = NULL;
	struct error err;
	int count = 0;

	if (journal_open(path, JOURNAL_CREATE, &store, &err) < 0 ||
	    journal_append(store, JOURNAL_NOW, 11, "a", "{\"x\":1}", &err) < 0 ||
	    journal_append(store, JOURNAL_LATER, 22, "b", "{}", &err) < 0)
		abort();
	CHECK("events are read as they were written, in their order",
	      journal_each(store, 0, collect, &all, &err) == 0 &&
		      strcmp(buffer_text(&all), "1 11 a {\"x\":1};2 22 b {};") == 0);
	CHECK("events after one are read without it",
	      journal_each(store, 1, collect, &last, &err) == 0 &&
		      strcmp(buffer_text(&last), "2 22 b {};") == 0);
	CHECK("a reader that stops gets no more, and its reason is the error",
	      journal_each(store, 0, stop, &count, &err) < 0 && count == 1 &&
		      strcmp(err.text, "stopped here") == 0);
	CHECK("a journal that is not a copy says so", !journal_copied_why(store));
	journal_close(store);
	CHECK("a journal that exists is opened, and continued",
	      journal_open(path, JOURNAL_WRITE, &store, &err) == 0 &&
		      journal_append(store, JOURNAL_NOW, 33, "c", "{}", &err) == 0 &&
		      journal_each(store, 2, stop, &count, &err) < 0 && count == 2);
	journal_close(store);
}

static void removed(void)
{
	AUTO_FREE char *path = path_join(folder, "journal.db");
	AUTO_FREE char *away = path_join(folder, "away.db");
	struct journal *store = NULL;
	struct error err;

	if (journal_open(path, JOURNAL_WRITE, &store, &err) < 0 || rename(path, away) < 0)
		abort();
	CHECK("nothing is appended to a journal that was removed",
	      journal_append(store, JOURNAL_NOW, 1, "d", "{}", &err) < 0 &&
		      strstr(err.text, "removed or replaced"));
	write_text(path, "");
	CHECK("nor to one that was replaced",
	      journal_append(store, JOURNAL_NOW, 1, "d", "{}", &err) < 0 &&
		      strstr(err.text, "removed or replaced"));
	if (rename(away, path) < 0)
		abort();
	CHECK("but to one that is back",
	      journal_append(store, JOURNAL_NOW, 1, "d", "{}", &err) == 0);
	journal_close(store);
}

static void set_format(const char *path, const char *sql)
{
	sqlite3 *raw = NULL;

	if (sqlite3_open(path, &raw) != SQLITE_OK ||
	    sqlite3_exec(raw, sql, NULL, NULL, NULL) != SQLITE_OK)
		abort();
	sqlite3_close(raw);
}

static void formats(void)
{
	AUTO_FREE char *path = path_join(folder, "journal.db");
	AUTO_FREE char *link = path_join(folder, "link.db");
	struct journal *store = NULL;
	struct error err;

	set_format(path, "PRAGMA user_version=99");
	CHECK("a journal of a newer version is refused, with what to do",
	      journal_open(path, JOURNAL_READ, &store, &err) < 0 && !store &&
		      strstr(err.text, "newer version of Ringfence; update this one"));
	set_format(path, "PRAGMA user_version=0");
	CHECK("a database without a format is not a journal",
	      journal_open(path, JOURNAL_READ, &store, &err) < 0 &&
		      strstr(err.text, "is not a journal"));
	set_format(path, "PRAGMA user_version=1");
	if (symlink("journal.db", link) < 0)
		abort();
	CHECK("a symlink to a journal is refused",
	      journal_open(link, JOURNAL_WRITE, &store, &err) < 0);
}

int main(void)
{
	char root[UNIT_PATH];

	folder = unit_temp(root);
	if (!folder)
		return 1;
	heads();
	copies();
	events();
	removed();
	formats();
	return unit_failures > 0;
}
