/* Names that tools run or obey: see names.h. */
#include "fence/plan/names.h"

#include "util/file/path.h"
#include "util/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct row {
	enum names_class class;
	const char *above; /* the folders before the name, each with a slash */
	const char *name;
	const char *folder; /* "/" if it matches only folders */
	const char *by;
} rows[] = {
#include "names.inc" /* made of names.txt by names.sed */
};

enum { ROWS = sizeof rows / sizeof *rows, BUCKETS = 256 };

/* Rows by the first letter of their name, or by the last one if the name begins with `*`. A list
 * ends with 0; other values are the row's index plus one. */
struct table {
	uint16_t first[BUCKETS];
	uint16_t last[BUCKETS];
	uint16_t next[ROWS];
	bool ready;
};

static int lower(char c)
{
	return tolower((unsigned char)c);
}

/* Many names begin with a dot, so the letter after it counts. */
static unsigned int first_bucket(const char *name)
{
	return name[0] == '.' ? 128U | ((unsigned int)lower(name[1]) & 127U)
			      : (unsigned int)lower(name[0]) & 127U;
}

static unsigned int last_bucket(const char *name, size_t size)
{
	return size ? (unsigned int)lower(name[size - 1]) : 0;
}

static const struct table *table_get(void)
{
	static struct table table; /* made once from a constant; asked for every file */

	for (uint16_t i = ROWS; !table.ready && i-- > 0;) {
		const char *name = rows[i].name;
		uint16_t *list = name[0] == '*' ? &table.last[last_bucket(name, strlen(name))]
						: &table.first[first_bucket(name)];

		table.next[i] = *list;
		*list = (uint16_t)(i + 1);
	}
	table.ready = true;
	return &table;
}

/* Matches a name against a pattern with `*`, ignoring case. */
static bool matches(const char *pattern, size_t left, const char *name, size_t size)
{
	size_t p = 0;
	size_t n = 0;
	size_t star = SIZE_MAX; /* after the last `*` */
	size_t from = 0;        /* the first character that it does not cover */

	while (n < size) {
		if (p < left && pattern[p] == '*') {
			star = ++p;
			from = n;
		} else if (p < left && lower(pattern[p]) == lower(name[n])) {
			p++;
			n++;
		} else if (star != SIZE_MAX) {
			p = star;
			n = ++from;
		} else {
			return false;
		}
	}
	while (p < left && pattern[p] == '*')
		p++;
	return p == left;
}

/* Returns the size of the last name in the first `size` characters of a path. */
static size_t last_name(const char *path, size_t size)
{
	size_t from = size;

	while (from > 0 && path[from - 1] != '/')
		from--;
	return size - from;
}

/* Matches the end of a path against folders that each end with a slash, from the last to the
 * first. */
static bool folders_match(const char *folders, size_t left, const char *path, size_t size)
{
	while (left > 0) {
		size_t wanted = last_name(folders, left - 1);
		size_t found = last_name(path, size);

		if (!matches(folders + left - 1 - wanted, wanted, path + size - found, found))
			return false;
		left -= wanted + 1;
		size -= found;
		size -= size > 0; /* the slash */
	}
	return true;
}

/* A path, and its full text once a pattern needs it. */
struct subject {
	const char *root, *path;
	const char *name;
	size_t size; /* of the name */
	unsigned char type;
	bool named; /* a line about secrets has this very name */
	char *full;
};

/* Returns the full path, and the size of its part before the name. */
static const char *above_name(struct subject *subject, size_t *ret_size)
{
	if (!subject->full)
		subject->full = path_join(subject->root, subject->path);
	*ret_size = strlen(subject->full) - subject->size;
	*ret_size -= *ret_size > 0;
	return subject->full;
}

/* A look at the content, and a name extension, are for files. */
static bool type_fits(const struct row *row, unsigned char type)
{
	if (type == DT_DIR)
		return row->class <= NAMES_SECRET && row->name[0] != '*';
	return !*row->folder || type == DT_LNK;
}

/* A file that is called `.key` has no extension. */
static bool is_only_extension(const struct row *row, const struct subject *subject)
{
	return strncmp(row->name, "*.", 2) == 0 && subject->size < strlen(row->name);
}

static bool row_matches(const struct row *row, struct subject *subject)
{
	const char *full;
	size_t above;

	if (!type_fits(row, subject->type) || is_only_extension(row, subject) ||
	    !matches(row->name, strlen(row->name), subject->name, subject->size))
		return false;
	if (!*row->above)
		return true;
	full = above_name(subject, &above);
	return folders_match(row->above, strlen(row->above), full, above);
}

/* Of the lines about secrets, those without `*` beat the others: .env.example is not like .env*. */
static void add_secret(const struct row *row, struct subject *subject, struct names_found *found)
{
	bool named = !strchr(row->name, '*');

	if (named && !subject->named)
		memset(&found->by[NAMES_SECRET], 0,
		       (NAMES_CLASSES - NAMES_SECRET) * sizeof *found->by);
	subject->named = subject->named || named;
	if (named == subject->named && !found->by[row->class])
		found->by[row->class] = row->by;
}

static void find_in(const struct table *table, uint16_t at, struct subject *subject,
		    struct names_found *found)
{
	for (; at; at = table->next[at - 1]) {
		const struct row *row = &rows[at - 1];

		if (row->class >= NAMES_SECRET && row_matches(row, subject))
			add_secret(row, subject, found);
		else if (!found->by[row->class] && row_matches(row, subject))
			found->by[row->class] = row->by;
	}
}

/* Finds patterns with a folder that this symlink replaces. */
static void find_folders(struct subject *subject, struct names_found *found)
{
	size_t size;
	const char *full = above_name(subject, &size);

	size = strlen(full);
	for (size_t i = 0; i < ROWS; i++)
		for (const char *end = rows[i].above; (end = strchr(end, '/')); end++)
			if (!found->by[rows[i].class] && rows[i].class < NAMES_SECRET &&
			    folders_match(rows[i].above, (size_t)(end - rows[i].above) + 1, full,
					  size))
				found->by[rows[i].class] = rows[i].by;
}

struct names_found names_find(const char *root, const char *path, unsigned char type)
{
	const struct table *table = table_get();
	const char *name = path_name(path);
	struct subject subject = {
		.root = root, .path = path, .name = name, .size = strlen(name), .type = type
	};
	struct names_found found = { 0 };

	find_in(table, table->first[first_bucket(name)], &subject, &found);
	find_in(table, table->last[last_bucket(name, subject.size)], &subject, &found);
	if (type == DT_LNK)
		find_folders(&subject, &found);
	free(subject.full);
	return found;
}

struct names_found names_above(const char *root, const char *path)
{
	AUTO_FREE char *folder = mem_dup(path);
	struct names_found above = { 0 };

	for (char *end = folder; (end = strchr(end, '/')); *end++ = '/') {
		*end = '\0';

		const struct names_found found = names_find(root, folder, DT_DIR);

		for (size_t i = 0; i < NAMES_CLASSES; i++)
			if (!above.by[i])
				above.by[i] = found.by[i];
	}
	return above;
}

struct names_found names_entry(struct names_walk *walk, const struct dirwalk_entry *entry)
{
	const struct dirwalk_folder *folder = &entry->above[entry->depth];
	struct names_found found = names_find(walk->root, entry->path, entry->type);

	if (folder->inode != walk->folder.inode || folder->device != walk->folder.device) {
		walk->folder = *folder;
		walk->above = names_above(walk->root, entry->path);
	}
	if (!found.by[NAMES_START])
		found.by[NAMES_START] = walk->above.by[NAMES_START];
	return found;
}

const char *names_secret(const struct names_found *found)
{
	for (size_t i = NAMES_SECRET; i < NAMES_CLASSES; i++)
		if (found->by[i])
			return found->by[i];
	return NULL;
}
