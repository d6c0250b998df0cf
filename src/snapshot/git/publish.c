/* Ringfence's refs in the user's repository. */
#include "snapshot/git/publish.h"

#include "snapshot/base/fault.h"
#include "snapshot/base/note.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define PACK_LINE "# pack "

enum { NOTE_BYTES = 16 << 20, REF_BYTES = 4096, PACKED_BYTES = 256 << 20 };

/* ---- the present state ---- */

/*
 * Reads the value of a ref; it is empty if there is no such ref. Returns false if it cannot be
 * read.
 */
static bool read_value(int common, const char *name, char ret_value[REF_BYTES])
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(REF_BYTES - 1);
	AUTO_BUFFER struct buffer packed = BUFFER_INIT(PACKED_BYTES);
	AUTO_FREE char *line = mem_format(" %s\n", name);
	const char *found;

	*ret_value = '\0';
	if (fd_read_file(common, name, &text) == 0) {
		snprintf(ret_value, REF_BYTES, "%s", buffer_text(&text));
		ret_value[strcspn(ret_value, "\r\n")] = '\0';
		return true;
	}
	if (errno != ENOENT && errno != ENOTDIR && errno != EISDIR && errno != EINVAL)
		return false;
	if (fd_read_file(common, "packed-refs", &packed) < 0)
		return errno == ENOENT;
	found = strstr(buffer_text(&packed), line);
	if (found && found - packed.data >= REFS_HEX)
		snprintf(ret_value, REF_BYTES, "%.*s", REFS_HEX, found - REFS_HEX);
	return true;
}

/* A ref at a parent name, or refs below the name, prevent it from being created. */
static bool is_ref(const struct publish *publish, const char *name)
{
	char value[REF_BYTES];

	return read_value(publish->common, name, value) && *value;
}

static bool packed_below(const struct publish *publish, const char *name)
{
	AUTO_BUFFER struct buffer packed = BUFFER_INIT(PACKED_BYTES);
	AUTO_FREE char *beginning = mem_format(" %s/", name);

	return fd_read_file(publish->common, "packed-refs", &packed) == 0 &&
	       strstr(buffer_text(&packed), beginning);
}

/* Reports whether this HEAD is on our branch. */
static bool is_on_branch(const struct publish *publish, const char *git)
{
	AUTO_FD folder = open(git, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct refs_entry head = { 0 };
	bool stands = folder >= 0 && refs_head(folder, &head) && head.target &&
		      strcmp(head.target, publish->branch) == 0;

	free(head.target);
	return stands;
}

/* A work tree that has the branch checked out would no longer match its index. */
static bool is_checked_out(const struct publish *publish)
{
	const struct borrow *borrow = publish->borrow;
	AUTO_FREE char *trees = path_join(borrow->common, "worktrees");
	DIR *dir = opendir(trees);
	bool found = is_on_branch(publish, borrow->common) &&
		     !(publish->at_home && strcmp(borrow->common, borrow->git) == 0);

	for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
		AUTO_FREE char *git = path_join(trees, entry->d_name);

		if (entry->d_name[0] != '.')
			found = is_on_branch(publish, git) &&
				!(publish->at_home && strcmp(git, borrow->git) == 0);
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool is_ours(const struct publish *publish, const char *name, const char *value)
{
	const struct refs_entry *imported = refs_find(&publish->imported, name);
	const struct refs_entry *pending = refs_find(&publish->pending, name);

	return !*value || (imported && strcmp(imported->hex, value) == 0) ||
	       (pending && strcmp(pending->hex, value) == 0);
}

bool publish_holds(const struct publish *publish, const char *hex)
{
	AUTO_FREE char *beside = mem_format("%sHEAD", publish->below);
	const char *const names[] = { publish->branch, beside };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct refs_entry *ref = refs_find(&publish->imported, names[i]);
		char value[REF_BYTES];

		if (ref && strcmp(ref->hex, hex) == 0 &&
		    read_value(publish->common, names[i], value) && strcmp(value, hex) == 0)
			return true;
	}
	return false;
}

char *publish_obstacle(const struct publish *publish, const char *name)
{
	AUTO_FREE char *above = mem_dup(name);
	char value[REF_BYTES];

	if (!read_value(publish->common, name, value))
		return mem_format("it cannot be read (%s)", strerror(errno));
	if (!is_ours(publish, name, value))
		return mem_dup("it was moved by someone else");
	if (strcmp(name, publish->branch) == 0 && is_checked_out(publish))
		return mem_dup("it is checked out");
	for (char *slash; (slash = strrchr(above, '/')) && strlen(above) > strlen("refs/heads");) {
		*slash = '\0';
		if (is_ref(publish, above))
			return mem_format("'%s' exists", above);
	}
	if (packed_below(publish, name))
		return mem_format("there are refs below '%s'", name);
	return NULL;
}

/* ---- cleaning up after a killed process ---- */

static int read_note(const struct publish *publish, const char *name, struct refs *refs,
		     struct buffer *text, struct error *err)
{
	if (fd_read_file(publish->own, name, text) < 0)
		return errno == ENOENT
			       ? 0
			       : error_sys(err, "read '%s' of the private git directory", name);
	if (refs_parse(buffer_text(text), text->used, true, refs, err) < 0)
		return -1;
	refs_sort(refs);
	return 0;
}

static char *temporary_of(const char *name)
{
	return mem_format("%s.ringfence.lock", name);
}

static char *lock_of(const char *name)
{
	return mem_format("%s.lock", name);
}

/* A lock that holds the value we were about to write is ours. */
static void clean_ref(const struct publish *publish, const struct refs_entry *ref)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(REF_BYTES);
	AUTO_FREE char *temporary = temporary_of(ref->name);
	AUTO_FREE char *lock = lock_of(ref->name);

	unlinkat(publish->common, temporary, 0);
	if (fd_read_file(publish->common, lock, &text) == 0 &&
	    strncmp(buffer_text(&text), ref->hex, REFS_HEX) == 0)
		unlinkat(publish->common, lock, 0);
}

/* The recorded pack is ours; without its index it is useless. */
static void clean_pack(struct publish *publish, const char *note)
{
	const char *name = strstr(note, PACK_LINE);
	size_t size = name ? strcspn(name + strlen(PACK_LINE), "\n") : 0;

	if (!size || memchr(name + strlen(PACK_LINE), '/', size))
		return;

	AUTO_FREE char *pack = mem_format("objects/pack/%.*spack", (int)size,
					  name + strlen(PACK_LINE));
	AUTO_FREE char *index = mem_format("objects/pack/%.*sidx", (int)size,
					   name + strlen(PACK_LINE));
	AUTO_FREE char *keep = mem_format("objects/pack/%.*skeep", (int)size,
					  name + strlen(PACK_LINE));

	if (faccessat(publish->common, index, F_OK, 0) < 0 && errno == ENOENT)
		unlinkat(publish->common, pack, 0);
	list_add(&publish->keeps, keep); /* until its refs are written */
}

int publish_open(const struct borrow *borrow, const char *folder, const char *loop,
		 const struct refs *base, struct publish *ret_publish, struct error *err)
{
	AUTO_BUFFER struct buffer imported = BUFFER_INIT(NOTE_BYTES);
	AUTO_BUFFER struct buffer pending = BUFFER_INIT(NOTE_BYTES);
	AUTO_FREE char *own = path_join(folder, "git-own");
	struct publish *publish = ret_publish;
	const struct refs_entry *before;

	*publish = (struct publish){ .borrow = borrow,
				     .branch = mem_format("refs/heads/ringfence/%s", loop),
				     .below = mem_format("refs/ringfence/%s/", loop) };
	publish->common = open(borrow->common, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	publish->own = open(own, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (publish->common < 0 || publish->own < 0)
		return error_sys(err, "open the repository '%s'", borrow->common);
	if (read_note(publish, "imported", &publish->imported, &imported, err) < 0 ||
	    read_note(publish, "pending", &publish->pending, &pending, err) < 0)
		return -1;
	for (size_t i = 0; i < publish->pending.count; i++)
		clean_ref(publish, &publish->pending.items[i]);
	clean_pack(publish, buffer_text(&pending));
	/* A branch that existed when the loop began was made for it. */
	before = refs_find(base, publish->branch);
	publish->at_home = before != NULL;
	if (before && !refs_find(&publish->imported, publish->branch))
		return refs_set(&publish->imported, publish->branch, before->hex, err);
	return 0;
}

void publish_close(struct publish *publish)
{
	for (size_t i = 0; i < publish->keeps.count; i++)
		unlinkat(publish->common, publish->keeps.items[i], 0);
	list_release(&publish->keeps);
	refs_release(&publish->imported);
	refs_release(&publish->pending);
	fd_close(&publish->common);
	fd_close(&publish->own);
	free(publish->branch);
	free(publish->below);
}

/* ---- writing ---- */

static int write_note(const struct publish *publish, const char *name, struct buffer *text,
		      struct error *err)
{
	if (buffer_overflowed(text))
		return error_set(err, "'%s' of the private git directory is too large", name);
	return note_write(publish->own, "temporary", publish->own, name, text->data, text->used) < 0
		       ? error_sys(err, "write '%s' of the private git directory", name)
		       : 0;
}

/*
 * As git fetch does: a concurrent git gc --prune=now does not see the future refs, and would remove
 * their objects.
 */
static int keep_pack(struct publish *publish, const char *pack, struct error *err)
{
	static const char text[] = "ringfence\n";
	AUTO_FREE char *keep = mem_format("objects/pack/%skeep", pack);
	AUTO_FD fd = -1;

	if (!*pack)
		return 0;
	list_add(&publish->keeps, keep);
	fd = openat(publish->common, keep, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	return fd < 0 || fd_write_all(fd, text, strlen(text)) < 0
		       ? error_sys(err, "write '%s' in the repository", keep)
		       : 0;
}

int publish_begin(struct publish *publish, const struct refs *wanted, const char *pack,
		  struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(NOTE_BYTES);

	refs_write(wanted, &text);
	if (*pack)
		buffer_printf(&text, PACK_LINE "%s\n", pack);
	if (write_note(publish, "pending", &text, err) < 0 || keep_pack(publish, pack, err) < 0)
		return -1;
	fault_point();
	return 0;
}

/*
 * Linking makes the lock file appear with its content, so that after a crash its owner can be
 * recognized. Where links are not supported, it is created and then written.
 */
static int take_lock(int common, const char *temporary, const char *lock, const char *text)
{
	AUTO_FD fd = -1;

	if (linkat(common, temporary, common, lock, 0) == 0)
		return 0;
	if (errno != EPERM && errno != EOPNOTSUPP && errno != EMLINK)
		return -1;
	fd = openat(common, lock, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	if (fd_write_all(fd, text, strlen(text)) == 0 && fsync(fd) == 0)
		return 0;
	unlinkat(common, lock, 0);
	return -1;
}

static int write_ref(const struct publish *publish, const struct refs_entry *ref, struct error *err)
{
	AUTO_FREE char *temporary = temporary_of(ref->name);
	AUTO_FREE char *lock = lock_of(ref->name);
	AUTO_FREE char *text = mem_format("%s\n", ref->hex);
	AUTO_FD fd = -1;
	char value[REF_BYTES];
	int result = 0;

	if (refs_make_folders(publish->common, ref->name, 0777) < 0)
		return error_sys(err, "create the folder of '%s' in the repository", ref->name);
	fd = openat(publish->common, temporary,
		    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0 || fsync(fd) < 0)
		result = error_sys(err, "write '%s' in the repository", ref->name);
	fault_point();
	if (result == 0 && take_lock(publish->common, temporary, lock, text) < 0)
		result = error_sys(err, "lock '%s' in the repository", ref->name);
	if (result == 0) {
		fault_point();
		if (!read_value(publish->common, ref->name, value) ||
		    !is_ours(publish, ref->name, value))
			result = error_set(err, "'%s' was moved by someone else", ref->name);
		else if (renameat(publish->common, lock, publish->common, ref->name) < 0)
			result = error_sys(err, "write '%s' in the repository", ref->name);
		if (result < 0)
			unlinkat(publish->common, lock, 0);
		fault_point();
	}
	unlinkat(publish->common, temporary, 0);
	return result;
}

int publish_end(struct publish *publish, const struct refs *wanted, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(NOTE_BYTES);

	/* The branch is last: anyone who sees it finds the other refs. */
	for (int last = 0; last < 2; last++)
		for (size_t i = 0; i < wanted->count; i++) {
			const struct refs_entry *ref = &wanted->items[i];
			char value[REF_BYTES];

			if ((strcmp(ref->name, publish->branch) == 0) != last)
				continue;
			if (!(read_value(publish->common, ref->name, value) &&
			      strcmp(value, ref->hex) == 0) &&
			    write_ref(publish, ref, err) < 0)
				return -1;
			if (refs_set(&publish->imported, ref->name, ref->hex, err) < 0)
				return -1;
		}
	refs_write(&publish->imported, &text);
	/* The refs may be on another file system than the note about them. */
	if (syncfs(publish->common) < 0)
		return error_sys(err, "sync the disk of '%s'", publish->borrow->common);
	fault_point();
	if (write_note(publish, "imported", &text, err) < 0)
		return -1;
	fault_point();
	unlinkat(publish->own, "pending", 0);
	return 0;
}
