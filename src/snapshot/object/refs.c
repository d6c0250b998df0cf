/* Refs in files. */
#include "snapshot/object/refs.h"

#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKED_BYTES = 64 << 20, FILE_BYTES = 4096, DEEPEST = 16, NESTED = 5 };

static const char *const folders[] = { "refs/heads", "refs/tags", "refs/remotes" };

static bool is_id(const char *text)
{
	return strspn(text, "0123456789abcdef") == REFS_HEX && !text[REFS_HEX];
}

/* One component of a name. */
static bool part_is_sane(const char *part, size_t size)
{
	static const char lock[] = ".lock";

	if (size == 0 || part[0] == '.' || part[0] == '-' || part[size - 1] == '.' ||
	    (size == 1 && part[0] == '@'))
		return false;
	if (size >= strlen(lock) &&
	    strncasecmp(part + size - strlen(lock), lock, strlen(lock)) == 0)
		return false;
	for (size_t i = 0; i < size; i++) {
		uint32_t point;
		size_t step = text_utf8(part + i, size - i, &point);

		if (!step || point < 0x21 || point == 0x7f || (point >= 0x80 && point < 0xa0) ||
		    (point < 0x80 && strchr("~^:?*[\\", (int)point)))
			return false;
		if (i + 1 < size && ((part[i] == '.' && part[i + 1] == '.') ||
				     (part[i] == '@' && part[i + 1] == '{')))
			return false;
		i += step - 1;
	}
	return true;
}

bool refs_name_is_sane(const char *name)
{
	if (strncmp(name, "refs/", 5) != 0 || strlen(name) > REFS_LONGEST)
		return false;
	for (const char *part = name;;) {
		size_t size = strcspn(part, "/");

		if (!part_is_sane(part, size))
			return false;
		if (!part[size])
			return true;
		part += size + 1;
	}
}

static int add_ref(struct refs *refs, const char *name, const char *hex, const char *target,
		   struct error *err)
{
	struct refs_entry *ref;

	if (!refs_name_is_sane(name) || (target && !refs_name_is_sane(target)) ||
	    (hex && !is_id(hex))) {
		refs->odd++;
		return 0;
	}
	if (refs->count == REFS_MOST)
		return error_set(err, "there are more than %d branches and tags", REFS_MOST);
	refs->items = mem_extend(refs->items, refs->count, sizeof *refs->items);
	ref = &refs->items[refs->count++];
	*ref = (struct refs_entry){ .name = mem_dup(name),
				    .target = target ? mem_dup(target) : NULL,
				    .order = refs->count };
	if (hex)
		memcpy(ref->hex, hex, REFS_HEX);
	return 0;
}

static bool is_wanted(const char *name)
{
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (strncmp(name, folders[i], strlen(folders[i])) == 0 &&
		    name[strlen(folders[i])] == '/')
			return true;
	return strcmp(name, "refs/stash") == 0;
}

int refs_parse(const char *bytes, size_t size, bool all, struct refs *refs, struct error *err)
{
	const char *end = bytes + size;

	while (bytes < end) {
		const char *line = bytes;
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((stop ? stop : end) - line);
		char hex[REFS_HEX + 1] = "";
		AUTO_FREE char *name = NULL;

		bytes = stop ? stop + 1 : end;
		if (length == 0 || *line == '#' || *line == '^')
			continue;
		if (length < REFS_HEX + 2 || line[REFS_HEX] != ' ' || memchr(line, '\0', length)) {
			refs->odd++;
			continue;
		}
		memcpy(hex, line, REFS_HEX);
		name = strndup(line + REFS_HEX + 1, length - REFS_HEX - 1);
		if (name && (all || is_wanted(name)) && add_ref(refs, name, hex, NULL, err) < 0)
			return -1;
	}
	return 0;
}

/* Parses an id or "ref: NAME". */
static bool parse_value(struct buffer *text, const char **ret_hex, const char **ret_target)
{
	char *value = (char *)buffer_text(text);
	size_t size = text->used;

	if (memchr(value, '\0', size))
		return false;
	while (size > 0 && strchr(" \t\r\n", value[size - 1]))
		value[--size] = '\0';
	*ret_hex = *ret_target = NULL;
	if (strncmp(value, "ref:", 4) == 0)
		*ret_target = value + 4 + strspn(value + 4, " \t");
	else
		*ret_hex = value;
	return *ret_target ? refs_name_is_sane(*ret_target) : is_id(*ret_hex);
}

static int read_one(int folder, const char *entry, const char *name, struct refs *refs,
		    struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(FILE_BYTES);
	const char *hex;
	const char *target;

	if (fd_read_file(folder, entry, &text) < 0 || !parse_value(&text, &hex, &target)) {
		refs->odd++;
		return 0;
	}
	return add_ref(refs, name, hex, target, err);
}

/* A walk over loose refs. */
struct loose {
	struct refs *refs;
	const char *path; /* of the folder: prefix of the names */
	struct error *err;
};

static enum dirwalk_verdict read_entry(void *context, const struct dirwalk_entry *entry)
{
	struct loose *loose = context;
	AUTO_FREE char *name = path_join(loose->path, entry->path);

	if (loose->refs->odd > REFS_MOST) {
		error_set(loose->err, "there are more than %d invalid files among the refs",
			  REFS_MOST);
		return DIRWALK_STOP;
	}
	if (entry->type == DT_DIR && !entry->closed)
		return DIRWALK_ON;
	return read_one(entry->folder, entry->name, name, loose->refs, loose->err) < 0
		       ? DIRWALK_STOP
		       : DIRWALK_PAST;
}

static int read_folder(int above, const char *entry, const char *path, struct refs *refs,
		       struct error *err)
{
	AUTO_FD fd = openat(above, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct loose loose = { refs, path, err };
	const struct dirwalk walk = { .visit = read_entry, .context = &loose, .deepest = DEEPEST };

	if (fd < 0) {
		refs->odd += errno != ENOENT;
		return 0;
	}
	return dirwalk_tree(&walk, fd, NULL, err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct refs_entry *)a)->name, ((const struct refs_entry *)b)->name);
}

static int by_name_and_order(const void *a, const void *b)
{
	const struct refs_entry *left = a;
	const struct refs_entry *right = b;
	int order = by_name(a, b);

	return order ? order : left->order < right->order ? -1 : left->order > right->order;
}

static void release_one(struct refs_entry *ref)
{
	free(ref->name);
	free(ref->target);
}

void refs_sort(struct refs *refs)
{
	size_t kept = 0;

	if (refs->count)
		qsort(refs->items, refs->count, sizeof *refs->items, by_name_and_order);
	for (size_t i = 0; i < refs->count; i++) {
		if (i + 1 < refs->count &&
		    strcmp(refs->items[i].name, refs->items[i + 1].name) == 0)
			release_one(&refs->items[i]);
		else
			refs->items[kept++] = refs->items[i];
	}
	refs->count = kept;
}

int refs_read(int git, struct refs *ret_refs, struct error *err)
{
	AUTO_BUFFER struct buffer packed = BUFFER_INIT(PACKED_BYTES);
	AUTO_FD refs = -1;
	int result = 0;

	*ret_refs = (struct refs){ 0 };
	if (fd_read_file(git, "packed-refs", &packed) == 0)
		result = refs_parse(buffer_text(&packed), packed.used, false, ret_refs, err);
	else if (errno == EFBIG)
		return error_set(err, "packed-refs is larger than %d MiB", PACKED_BYTES >> 20);
	refs = openat(git, "refs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (size_t i = 0; refs >= 0 && result == 0 && i < sizeof folders / sizeof *folders; i++)
		result = read_folder(refs, path_name(folders[i]), folders[i], ret_refs, err);
	if (refs >= 0 && result == 0 && faccessat(refs, "stash", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		result = read_one(refs, "stash", "refs/stash", ret_refs, err);
	refs_sort(ret_refs);
	return result;
}

void refs_release(struct refs *refs)
{
	for (size_t i = 0; i < refs->count; i++)
		release_one(&refs->items[i]);
	free(refs->items);
	*refs = (struct refs){ 0 };
}

const struct refs_entry *refs_find(const struct refs *refs, const char *name)
{
	const struct refs_entry key = { .name = (char *)name };

	return refs->count ? bsearch(&key, refs->items, refs->count, sizeof key, by_name) : NULL;
}

int refs_set(struct refs *refs, const char *name, const char *hex, struct error *err)
{
	const struct refs_entry *found = refs_find(refs, name);
	struct refs_entry *at = found ? &refs->items[found - refs->items] : NULL;

	if (at && hex) {
		memcpy(at->hex, hex, REFS_HEX);
		return 0;
	}
	if (at) {
		release_one(at);
		memmove(at, at + 1, (size_t)(refs->items + --refs->count - at) * sizeof *at);
		return 0;
	}
	if (!hex)
		return 0;
	if (add_ref(refs, name, hex, NULL, err) < 0)
		return -1;
	refs_sort(refs);
	return 0;
}

void refs_write(const struct refs *refs, struct buffer *out)
{
	buffer_add_text(out, "# pack-refs with: sorted \n");
	for (size_t i = 0; i < refs->count; i++)
		if (!refs->items[i].target)
			buffer_printf(out, "%s %s\n", refs->items[i].hex, refs->items[i].name);
}

bool refs_head(int git, struct refs_entry *ret_head)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(FILE_BYTES);
	const char *hex;
	const char *target;

	*ret_head = (struct refs_entry){ 0 };
	if (fd_read_file(git, "HEAD", &text) < 0 || !parse_value(&text, &hex, &target))
		return false;
	if (hex)
		memcpy(ret_head->hex, hex, REFS_HEX);
	else
		ret_head->target = mem_dup(target);
	return true;
}

const char *refs_resolve(const struct refs *refs, const struct refs_entry *ref)
{
	for (int i = 0; ref && i < NESTED; i++) {
		if (!ref->target)
			return ref->hex;
		ref = refs_find(refs, ref->target);
	}
	return NULL;
}

int refs_make_folders(int git, const char *name, mode_t mode)
{
	AUTO_FREE char *way = mem_dup(name);

	for (char *at = way; (at = strchr(at, '/')); at++) {
		*at = '\0';
		if (mkdirat(git, way, mode) < 0 && errno != EEXIST)
			return -1;
		*at = '/';
	}
	return 0;
}
