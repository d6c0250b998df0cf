/* Checks git objects. */
#include "snapshot/object/fsck.h"

#include "snapshot/object/refs.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_NAME = 4096, HEX = 2 * FSCK_ID };

/* ---- names ---- */

/* HFS+ ignores these. */
static bool is_ignored(uint32_t point)
{
	return (point >= 0x200c && point <= 0x200f) || (point >= 0x202a && point <= 0x202e) ||
	       (point >= 0x206a && point <= 0x206f) || point == 0xfeff;
}

/* Lower-cases a name, drops the characters that HFS+ ignores, and stops where NTFS ends a name. */
static void fold(const char *name, size_t size, char ret_folded[32])
{
	size_t used = 0;

	for (size_t i = 0; i < size && used < 31;) {
		uint32_t point;
		size_t step = text_utf8(name + i, size - i, &point);

		if (name[i] == ':' || name[i] == '\\')
			break;
		if (!step || !is_ignored(point))
			ret_folded[used++] = (char)tolower((unsigned char)name[i]);
		i += step && is_ignored(point) ? step : 1;
	}
	while (used > 0 && (ret_folded[used - 1] == ' ' || ret_folded[used - 1] == '.'))
		used--;
	ret_folded[used] = '\0';
}

/* Checks each part between backslashes, which separate folders on Windows. */
static bool any_part(const char *name, bool (*is)(const char *folded))
{
	for (;;) {
		size_t size = strcspn(name, "\\");
		char folded[32] = "";

		fold(name, size, folded);
		if (is(folded))
			return true;
		if (!name[size])
			return false;
		name += size + 1;
	}
}

static bool is_git(const char *folded)
{
	return strcmp(folded, ".git") == 0 || strcmp(folded, "git~1") == 0;
}

/* NTFS derives short names from the beginning of a name, or from a hash. */
static bool is_modules(const char *folded)
{
	return strcmp(folded, ".gitmodules") == 0 ||
	       (strncmp(folded, "gitmod~", 7) == 0 && isdigit((unsigned char)folded[7])) ||
	       (strncmp(folded, "gi7eb", 5) == 0 && strchr(folded, '~'));
}

static bool is_attributes(const char *folded)
{
	return strcmp(folded, ".gitattributes") == 0 ||
	       (strncmp(folded, "gitatt~", 7) == 0 && isdigit((unsigned char)folded[7])) ||
	       (strncmp(folded, "gi7d29", 6) == 0 && strchr(folded, '~'));
}

bool fsck_is_dotgit(const char *name)
{
	return any_part(name, is_git);
}

bool fsck_is_modules(const char *name)
{
	return any_part(name, is_modules);
}

bool fsck_is_attributes(const char *name)
{
	return any_part(name, is_attributes);
}

/* ---- ids ---- */

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_hex(const char *text, unsigned char ret_id[FSCK_ID])
{
	bool zero = true;

	for (int i = 0; i < FSCK_ID; i++) {
		int high = digit(text[2 * i]);
		int low = high < 0 ? -1 : digit(text[2 * i + 1]);

		if (low < 0)
			return -1;
		ret_id[i] = (unsigned char)(high << 4 | low);
		zero = zero && !ret_id[i];
	}
	return zero ? -1 : 0;
}

/* ---- commits and tags ---- */

/* The unread part of a text. */
struct lines {
	const char *at, *end;
};

/* If the next line begins with this word, consumes it and returns the rest of the line. */
static bool take_line(struct lines *lines, const char *word, const char **ret_value,
		      size_t *ret_size)
{
	size_t size = strlen(word);
	const char *stop = lines->at < lines->end
				   ? memchr(lines->at, '\n', (size_t)(lines->end - lines->at))
				   : NULL;

	if (!stop || (size_t)(stop - lines->at) < size || memcmp(lines->at, word, size) != 0)
		return false;
	*ret_value = lines->at + size;
	*ret_size = (size_t)(stop - lines->at) - size;
	lines->at = stop + 1;
	return true;
}

static bool take_id_line(struct lines *lines, const char *word, struct fsck_link *link)
{
	const char *value;
	size_t size;
	struct lines before = *lines;

	if (!take_line(lines, word, &value, &size))
		return false;
	if (size == HEX && read_hex(value, link->id) == 0)
		return true;
	*lines = before;
	return false;
}

/* "A Name <email> 1700000000 +0100" */
static bool is_person(const char *value, size_t size)
{
	AUTO_FREE char *text = strndup(value, size);
	char *at = text;

	if (!text || strlen(text) != size || *at == '<')
		return false;
	at += strcspn(at, "<>");
	if (*at != '<' || at[-1] != ' ')
		return false;
	at += 1 + strcspn(at + 1, "<>");
	if (strncmp(at, "> ", 2) != 0)
		return false;
	at += 2;
	size = strspn(at, "0123456789");
	if (size == 0 || size > 18 || (*at == '0' && size > 1) || at[size] != ' ')
		return false;
	at += size + 1;
	return (*at == '+' || *at == '-') && strspn(at + 1, "0123456789") == 4 && !at[5];
}

/* The header, up to the first empty line, must not contain a NUL. */
static int check_head(const char *bytes, size_t size, const char *what, struct error *err)
{
	const char *end = memmem(bytes, size, "\n\n", 2);
	size_t head = end ? (size_t)(end - bytes) : size;

	if (memchr(bytes, '\0', head))
		return error_set(err, "a %s with a NUL byte in its header", what);
	return end || (size && bytes[size - 1] == '\n')
		       ? 0
		       : error_set(err, "a %s with an unterminated header", what);
}

static int check_commit(const char *bytes, size_t size, fsck_fn *found, void *context,
			struct error *err)
{
	struct lines lines = { bytes, bytes + size };
	struct fsck_link link = { .type = FSCK_TREE };
	const char *value;
	size_t length;

	if (check_head(bytes, size, "commit", err) < 0)
		return -1;
	if (memchr(bytes, '\0', size)) /* git hides everything after it */
		return error_set(err, "a commit with a NUL byte in its message");
	if (!take_id_line(&lines, "tree ", &link))
		return error_set(err, "a commit without a tree");
	if (found(context, &link, err) < 0)
		return -1;
	link.type = FSCK_COMMIT;
	while (take_id_line(&lines, "parent ", &link))
		if (found(context, &link, err) < 0)
			return -1;
	if (!take_line(&lines, "author ", &value, &length) || !is_person(value, length))
		return error_set(err, "a commit with an invalid author");
	if (!take_line(&lines, "committer ", &value, &length) || !is_person(value, length))
		return error_set(err, "a commit with an invalid committer");
	return 0;
}

static int check_tag(const char *bytes, size_t size, fsck_fn *found, void *context,
		     struct error *err)
{
	static const char *const names[] = { "", "commit", "tree", "blob", "tag" };
	struct lines lines = { bytes, bytes + size };
	struct fsck_link link = { 0 };
	const char *value;
	size_t length;

	if (check_head(bytes, size, "tag", err) < 0)
		return -1;
	if (!take_id_line(&lines, "object ", &link) || !take_line(&lines, "type ", &value, &length))
		return error_set(err, "a tag without an object");
	for (enum fsck_type type = FSCK_COMMIT; type <= FSCK_TAG; type++)
		if (strlen(names[type]) == length && memcmp(names[type], value, length) == 0)
			link.type = type;
	if (link.type == FSCK_ANY)
		return error_set(err, "a tag of an unknown type");
	if (!take_line(&lines, "tag ", &value, &length) || length == 0)
		return error_set(err, "a tag without a name");

	AUTO_FREE char *name = mem_format("refs/tags/%.*s", (int)(length < 300 ? length : 300),
					  value);

	if (!refs_name_is_sane(name))
		return error_set(err, "a tag with an invalid name");
	if (take_line(&lines, "tagger ", &value, &length) && !is_person(value, length))
		return error_set(err, "a tag with an invalid tagger");
	return found(context, &link, err);
}

/* ---- trees ---- */

struct entry {
	const char *name;
	size_t size;
	bool is_tree;
	bool is_link;
};

/* git sorts a folder as if its name ended with a slash. */
static int compare(const struct entry *a, const struct entry *b)
{
	size_t size = a->size < b->size ? a->size : b->size;
	int order = memcmp(a->name, b->name, size);
	unsigned char left = a->size > size ? (unsigned char)a->name[size] : a->is_tree ? '/' : 0;
	unsigned char right = b->size > size ? (unsigned char)b->name[size] : b->is_tree ? '/' : 0;

	return order ? order : left - right;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static int by_folded_name(const void *a, const void *b)
{
	return strcasecmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static int check_name(const char *name, struct error *err)
{
	AUTO_FREE char *shown = text_escaped(name);

	if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strlen(name) > LONGEST_NAME)
		return error_set(err, "a tree with an invalid entry name '%.100s'", shown);
	if (fsck_is_dotgit(name))
		return error_set(
			err, "a tree with an entry that some file systems treat as .git: '%.100s'",
			shown);
	return 0;
}

/* Each mode has exactly one valid spelling. */
static int check_mode(const char *text, size_t size, bool modules, struct fsck_link *link,
		      bool *ret_linked, struct error *err)
{
	static const struct {
		const char *text;
		enum fsck_type type;
		bool linked; /* the object must exist */
		bool plain;  /* allowed for .gitmodules */
	} modes[] = {
		{ "40000", FSCK_TREE, true, false },     { "100644", FSCK_BLOB, true, true },
		{ "100755", FSCK_BLOB, true, true },     { "120000", FSCK_BLOB, true, false },
		{ "160000", FSCK_COMMIT, false, false },
	};

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (strlen(modes[i].text) != size || memcmp(modes[i].text, text, size) != 0)
			continue;
		if (modules && !modes[i].plain)
			return error_set(err, "a tree whose .gitmodules is not a regular file");
		link->type = modes[i].type;
		*ret_linked = modes[i].linked;
		return 0;
	}
	return error_set(err, "a tree with an invalid mode");
}

static int check_duplicates(struct entry *entries, size_t count, struct error *err)
{
	if (count)
		qsort(entries, count, sizeof *entries, by_name);
	for (size_t i = 1; i < count; i++)
		if (strcmp(entries[i - 1].name, entries[i].name) == 0)
			return error_set(err, "a tree with duplicate entries");
	return 0;
}

/*
 * If "a" is a symlink and "A" a folder, a checkout on a case-insensitive file system writes through
 * the link.
 */
static int check_links(struct entry *entries, size_t count, struct error *err)
{
	qsort(entries, count, sizeof *entries, by_folded_name);
	for (size_t i = 1; i < count; i++) {
		if ((!entries[i - 1].is_link && !entries[i].is_link) ||
		    strcasecmp(entries[i - 1].name, entries[i].name) != 0)
			continue;

		AUTO_FREE char *shown = text_escaped(entries[i].name);

		return error_set(
			err,
			"a tree with a symlink that some file systems treat as another entry: '%.100s'",
			shown);
	}
	return 0;
}

static int check_tree(const char *bytes, size_t size, fsck_fn *found, void *context,
		      struct error *err)
{
	static const unsigned char zero[FSCK_ID];
	const char *end = bytes + size;
	AUTO_FREE struct entry *entries = NULL;
	size_t count = 0;
	bool links = false;

	while (bytes < end) {
		const char *space = memchr(bytes, ' ', (size_t)(end - bytes));
		const char *name = space ? space + 1 : end;
		const char *stop = name < end ? memchr(name, '\0', (size_t)(end - name)) : NULL;
		struct fsck_link link = { 0 };
		struct entry entry;
		bool linked;

		if (!stop || end - stop <= FSCK_ID)
			return error_set(err, "a truncated tree");
		link.modules = fsck_is_modules(name);
		link.attributes = fsck_is_attributes(name);
		if (check_name(name, err) < 0 || check_mode(bytes, (size_t)(space - bytes),
							    link.modules, &link, &linked, err) < 0)
			return -1;
		entry = (struct entry){ name, (size_t)(stop - name), link.type == FSCK_TREE,
					memcmp(bytes, "12", 2) == 0 };
		links = links || entry.is_link;
		link.attributes = link.attributes && link.type == FSCK_BLOB && !entry.is_link;
		if (count && compare(&entries[count - 1], &entry) >= 0)
			return error_set(err, "an unsorted tree");
		entries = mem_extend(entries, count, sizeof *entries);
		entries[count++] = entry;
		memcpy(link.id, stop + 1, FSCK_ID);
		if (memcmp(link.id, zero, FSCK_ID) == 0)
			return error_set(err, "a tree with an entry without an object");
		if (linked && found(context, &link, err) < 0)
			return -1;
		bytes = stop + 1 + FSCK_ID;
	}
	if (check_duplicates(entries, count, err) < 0)
		return -1;
	return links ? check_links(entries, count, err) : 0;
}

int fsck_object(enum fsck_type type, const char *bytes, size_t size, fsck_fn *found, void *context,
		struct error *err)
{
	switch (type) {
	case FSCK_COMMIT:
		return check_commit(bytes, size, found, context, err);
	case FSCK_TREE:
		return check_tree(bytes, size, found, context, err);
	case FSCK_TAG:
		return check_tag(bytes, size, found, context, err);
	case FSCK_BLOB:
		return 0;
	case FSCK_ANY:
		break;
	}
	return error_set(err, "an object of an unknown type");
}
