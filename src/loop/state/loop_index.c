/* Indexes of loops that have ended: see loop_index.h. */
#include "loop/state/loop_index.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"
#include "util/text/word.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The file: a hash of everything after it and a space; "ringfence-index 1", the name of the index,
 * and the mark; then the lines in the order of their ids: "ID TEXT".
 */
enum { HASH = 16, MOST_BYTES = 256 << 20, MOST_REOPENED = 1 << 20 };

#define REOPENED ".reopened"
#define VERSION  "ringfence-index 1"

struct line {
	char *id;
	char *text; /* NULL: no longer true */
	bool used;  /* set or got */
};

struct loop_index {
	char *loops;
	char *name;
	struct loop_index_mark mark; /* as it was before any loop was read */
	bool marked;                 /* there was such a list */
	struct buffer file;
	struct line *lines; /* of the file, sorted */
	size_t count;
	size_t next; /* the line that is probably asked for next */
	struct line *added;
	size_t added_count;
};

/* A checksum against damage, not against people; eight bytes at a time, because it is on the way of
 * every command. */
uint64_t loop_index_hash(const char *bytes, size_t size)
{
	uint64_t hash = 14695981039346656037U ^ size;

	for (; size > 0;) {
		uint64_t part = 0;
		size_t step = size < sizeof part ? size : sizeof part;

		memcpy(&part, bytes, step);
		hash = (hash ^ part) * 1099511628211U;
		hash ^= hash >> 32;
		bytes += step;
		size -= step;
	}
	return hash;
}

static bool is_hash_right(const char *bytes, size_t size)
{
	char wanted[HASH + 2];

	if (size <= HASH || bytes[size] != '\0' || bytes[size - 1] != '\n')
		return false;
	snprintf(wanted, sizeof wanted, "%016" PRIx64 " ",
		 loop_index_hash(bytes + HASH + 1, size - HASH - 1));
	return memcmp(bytes, wanted, HASH + 1) == 0 && !memchr(bytes, '\0', size);
}

/* Reads the first line after the hash. */
static int parse_head(const char *line, const char *name, struct loop_index_mark *ret_mark)
{
	AUTO_FREE char *head = mem_format(VERSION " %s ", name);
	const char *at = text_after_prefix(line, head);

	return at && word_take_number(&at, &ret_mark->inode) == 0 &&
			       word_take_number(&at, &ret_mark->changed_ns) == 0 &&
			       word_take_number(&at, &ret_mark->size) == 0 && !*at
		       ? 0
		       : -1;
}

long loop_index_parse(char *bytes, size_t size, const char *name, struct loop_index_mark *ret_mark,
		      char ***ret_lines)
{
	char **lines = NULL;
	long count = 0;
	char *at;

	if (!is_hash_right(bytes, size))
		return -1;
	at = strchr(bytes, '\n');
	*at++ = '\0';
	if (parse_head(bytes + HASH + 1, name, ret_mark) < 0)
		return -1;
	for (; *at; count++) {
		char *end = strchr(at, '\n');
		char *space = memchr(at, ' ', (size_t)(end - at));

		*end = '\0';
		if (!space || space == at)
			break;
		*space = '\0';
		if (count > 0 && strcmp(lines[count - 1], at) >= 0)
			break;
		lines = mem_extend(lines, (size_t)count, sizeof *lines);
		lines[count] = at;
		at = end + 1;
	}
	if (!*at) {
		*ret_lines = lines;
		return count;
	}
	free(lines);
	return -1;
}

static int open_reopened(const char *loops, int flags)
{
	AUTO_FREE char *path = path_join(loops, REOPENED);

	return open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

static int read_mark(int fd, struct loop_index_mark *ret_mark)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return -1;
	*ret_mark = (struct loop_index_mark){
		.inode = status.st_ino,
		.changed_ns = (uint64_t)status.st_ctim.tv_sec * 1000000000 +
			      (uint64_t)status.st_ctim.tv_nsec,
		.size = (uint64_t)status.st_size,
	};
	return 0;
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->id, ((const struct line *)b)->id);
}

static struct line *find(const struct loop_index *index, const char *id)
{
	struct line wanted = { .id = (char *)id };

	if (index->next < index->count && strcmp(index->lines[index->next].id, id) == 0)
		return &index->lines[index->next];
	return index->count ? bsearch(&wanted, index->lines, index->count, sizeof wanted, by_id)
			    : NULL;
}

/* Drops the lines of loops that were reopened since the index was made. Returns -1 if the list does
 * not continue the one that the index has seen. */
static int drop_reopened(struct loop_index *index, int fd, const struct loop_index_mark *seen)
{
	const struct loop_index_mark *now = &index->mark;
	AUTO_BUFFER struct buffer rest = BUFFER_INIT(MOST_REOPENED);
	char *next;

	if (seen->inode != now->inode || seen->size > now->size)
		return -1;
	if (seen->size == now->size)
		return seen->changed_ns == now->changed_ns ? 0 : -1;
	if (lseek(fd, (off_t)seen->size, SEEK_SET) < 0 || fd_read_all(fd, &rest) < 0)
		return -1;
	for (char *id = (char *)buffer_text(&rest); *id; id = next + 1) {
		struct line *line;

		next = strchr(id, '\n');
		if (!next)
			return -1;
		*next = '\0';
		line = find(index, id);
		if (line)
			line->text = NULL;
	}
	return 0;
}

static void read_lines(struct loop_index *index, int reopened)
{
	AUTO_FREE char *path = path_join(index->loops, index->name);
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_FREE char **ids = NULL;
	struct loop_index_mark seen;
	long count;

	if (fd < 0 || fd_read_all(fd, &index->file) < 0)
		return;
	buffer_text(&index->file);
	count = loop_index_parse(index->file.data, index->file.used, index->name, &seen, &ids);
	if (count <= 0)
		return;
	index->lines = mem_zero((size_t)count * sizeof *index->lines);
	index->count = (size_t)count;
	for (size_t i = 0; i < index->count; i++)
		index->lines[i] = (struct line){ .id = ids[i],
						 .text = ids[i] + strlen(ids[i]) + 1 };
	if (drop_reopened(index, reopened, &seen) < 0)
		index->count = 0;
}

struct loop_index *loop_index_load(const char *loops, const char *name)
{
	struct loop_index *index = mem_zero(sizeof *index);
	AUTO_FD reopened = open_reopened(loops, O_RDONLY);

	index->loops = mem_dup(loops);
	index->name = mem_dup(name);
	index->file = BUFFER_INIT(MOST_BYTES);
	index->marked = reopened >= 0 && read_mark(reopened, &index->mark) == 0;
	if (index->marked)
		read_lines(index, reopened);
	return index;
}

void loop_index_free(struct loop_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->added_count; i++) {
		free(index->added[i].id);
		free(index->added[i].text);
	}
	free(index->added);
	free(index->lines);
	buffer_release(&index->file);
	free(index->loops);
	free(index->name);
	free(index);
}

const char *loop_index_get(struct loop_index *index, const char *id)
{
	struct line *line = find(index, id);

	if (!line)
		return NULL;
	line->used = true;
	index->next = (size_t)(line - index->lines) + 1;
	return line->text;
}

void loop_index_set(struct loop_index *index, const char *id, const char *text)
{
	struct line *line = find(index, id);

	/* Users may have named a folder themselves. */
	if (strpbrk(id, " \n") || strchr(text, '\n'))
		return;
	if (line)
		line->text = NULL;
	index->added = mem_extend(index->added, index->added_count, sizeof *index->added);
	index->added[index->added_count++] = (struct line){ mem_dup(id), mem_dup(text), true };
}

void loop_index_forget(struct loop_index *index)
{
	index->count = 0;
}

static void add_line(struct buffer *out, const struct line *line)
{
	buffer_add_text(out, line->id);
	buffer_add(out, " ", 1);
	buffer_add_text(out, line->text);
	buffer_add(out, "\n", 1);
}

/* Merges the lines of the file with new ones. */
static void write_lines(const struct loop_index *index, struct buffer *out)
{
	size_t old = 0;

	qsort(index->added, index->added_count, sizeof *index->added, by_id);
	for (size_t i = 0; i <= index->added_count; i++) {
		for (; old < index->count; old++) {
			const struct line *line = &index->lines[old];

			if (i < index->added_count && by_id(line, &index->added[i]) > 0)
				break;
			if (line->used && line->text)
				add_line(out, line);
		}
		if (i < index->added_count)
			add_line(out, &index->added[i]);
	}
}

/* Creates the list of reopened loops. If it is empty, none has been reopened in the meantime. */
static bool begin_list(struct loop_index *index)
{
	AUTO_FD fd = open_reopened(index->loops, O_RDONLY | O_CREAT);

	return fd >= 0 && read_mark(fd, &index->mark) == 0 && index->mark.size == 0;
}

void loop_index_save(struct loop_index *index)
{
	const struct loop_index_mark *mark = &index->mark;
	AUTO_BUFFER struct buffer out = BUFFER_INIT(MOST_BYTES);
	AUTO_FD folder = -1;
	char hash[HASH + 2];

	if (index->added_count == 0 || !(index->marked || begin_list(index)))
		return;
	buffer_printf(&out, "%*s " VERSION " %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", HASH, "",
		      index->name, mark->inode, mark->changed_ns, mark->size);
	write_lines(index, &out);
	if (buffer_overflowed(&out))
		return;
	snprintf(hash, sizeof hash, "%016" PRIx64,
		 loop_index_hash(out.data + HASH + 1, out.used - HASH - 1));
	memcpy(out.data, hash, HASH);
	folder = open(index->loops, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0 && fd_replace_file(folder, index->name, out.data, out.used, 0600) < 0)
		return; /* the next command reads the loops again */
}

int loop_index_reopen(const char *folder, struct error *err)
{
	AUTO_FREE char *loops = path_folder(folder);
	AUTO_FREE char *path = mem_format("%s" REOPENED, loops);
	AUTO_FREE char *line = mem_format("%s\n", path_name(folder));
	AUTO_FD fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	/* On disk before the loop changes. */
	if (fd < 0 || fd_write_all(fd, line, strlen(line)) < 0 || fdatasync(fd) < 0)
		return error_sys(err, "write '%s'", path);
	return 0;
}
