/* Records of a run: damage in each kind, the order of lists, and the entries that they know. */
#include "unit.h"

#include "fence/after/baseline.h"
#include "fence/plan/known.h"
#include "fence/run/wire.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { VERSION = 2, FILES = 5 };

static char folder[UNIT_PATH];
static int root_fd;

/* A record starts with its version and the project. */
static void begin(struct buffer *record, uint32_t version)
{
	record->used = 0;
	wire_add(record, WIRE_VERSION, &version, sizeof version);
	wire_add_string(record, WIRE_CWD, "/p");
}

static bool reads(const struct buffer *record, struct baseline *ret_baseline)
{
	struct error err;

	return baseline_read(record->data, record->used, ret_baseline, &err) == 0;
}

static bool is_damage(const struct buffer *record)
{
	struct baseline baseline;
	bool read = reads(record, &baseline);

	if (read)
		baseline_release(&baseline);
	return !read;
}

/* Whether a record of this tag is damage with these bytes, and harmless in another version. */
static bool refuses(enum wire_tag tag, const void *bytes, size_t size)
{
	AUTO_BUFFER struct buffer record = BUFFER_INIT(4096);
	bool refused;

	begin(&record, VERSION);
	wire_add(&record, tag, bytes, size);
	refused = is_damage(&record);
	if (!refused)
		printf("# tag %d with %zu bytes\n", (int)tag, size);
	return refused;
}

/* With this many bytes less and more. */
static bool refuses_sizes(enum wire_tag tag, size_t size)
{
	static const char bytes[256];

	return refuses(tag, bytes, size - 1) && refuses(tag, bytes, size + 1);
}

static void damage(void)
{
	static const char hash[SHA256_HEX + 3] = { [SHA256_HEX - 1] = 'x', '/', 'a' };
	static const char here[SHA256_HEX + 3] = { [SHA256_HEX] = 'a' };

	CHECK("lists of inodes have one size",
	      refuses_sizes(WIRE_SECRET, sizeof(struct fence_inode)) &&
		      refuses_sizes(WIRE_OTHER, sizeof(struct fence_inode)) &&
		      refuses_sizes(WIRE_SEEN, sizeof(struct fence_seen)) &&
		      refuses_sizes(WIRE_ROOM, sizeof(uint64_t)));
	CHECK("an inode of a root follows its path", refuses(WIRE_ROOT_INODE, hash, 32));
	CHECK("a known entry has an inode and a path",
	      refuses(WIRE_KNOWN, hash, sizeof(struct fence_inode) - 1) &&
		      refuses(WIRE_KNOWN, "12345678901234567890123456789012x", 33));
	CHECK("a known content has a hash and a path from the root",
	      refuses(WIRE_CONTENT, hash, sizeof hash) &&
		      refuses(WIRE_CONTENT, here, sizeof here) && refuses(WIRE_CONTENT, "x", 1));
	CHECK("texts end", refuses(WIRE_EXEMPT, "/a", 2) && refuses(WIRE_HIDDEN, "/a", 2) &&
				   refuses(WIRE_LINK, "/a", 2) && refuses(WIRE_PATTERN, "rfx", 3));
	CHECK("paths begin at the root", refuses(WIRE_ROOT, "a", 2) && refuses(WIRE_CWD, "a", 2) &&
						 refuses(WIRE_LINK, "a", 2));
	CHECK("a link has a target", refuses(WIRE_LINK, "/a", 3));
	CHECK("other tags do not occur", refuses(WIRE_ARGUMENT, "a", 2));
}

static void versions(void)
{
	AUTO_BUFFER struct buffer record = BUFFER_INIT(4096);
	struct baseline baseline;

	begin(&record, VERSION + 1);
	wire_add(&record, WIRE_SECRET, "x", 1);
	wire_add_string(&record, WIRE_ROOT, "/r");
	CHECK("of another version, only project and roots are read",
	      reads(&record, &baseline) && baseline.foreign && baseline.secret_count == 0 &&
		      baseline.root_count == 1);
	baseline_release(&baseline);
	record.used = 0;
	wire_add_string(&record, WIRE_CWD, "/p");
	CHECK("a record without a version is of another one",
	      reads(&record, &baseline) && baseline.foreign);
	baseline_release(&baseline);
	record.used = 0;
	wire_add(&record, WIRE_VERSION, &(uint32_t){ VERSION }, sizeof(uint32_t));
	CHECK("a record without a project is damaged", is_damage(&record));
}

static void overlaps(void)
{
	AUTO_BUFFER struct buffer record = BUFFER_INIT(4096);
	struct baseline baseline;

	begin(&record, VERSION);
	wire_add_string(&record, WIRE_ROOT, "/r/a");
	if (!reads(&record, &baseline))
		abort();
	CHECK("the project overlaps with folders above and below it",
	      baseline_overlaps(&baseline, "/p") && baseline_overlaps(&baseline, "/p/x") &&
		      baseline_overlaps(&baseline, "/"));
	CHECK("so does each root", baseline_overlaps(&baseline, "/r/a") &&
					   baseline_overlaps(&baseline, "/r/a/x") &&
					   baseline_overlaps(&baseline, "/r"));
	CHECK("others do not overlap",
	      !baseline_overlaps(&baseline, "/r/b") && !baseline_overlaps(&baseline, "/p2"));
	baseline_release(&baseline);
}

/* --- entries */

static const char *const names[FILES] = { "a", "b", "c", "d", "e" };
static struct fence_inode inodes[FILES];

static void make_files(void)
{
	for (size_t i = 0; i < FILES; i++) {
		int fd = openat(root_fd, names[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		if (fd < 0 || close(fd) < 0 || known_identify(root_fd, names[i], &inodes[i]) < 0)
			abort();
	}
}

/* The largest inode first. */
static int by_size(const void *a, const void *b)
{
	const struct fence_inode *left = a;
	const struct fence_inode *right = b;

	return left->inode > right->inode ? -1 : left->inode < right->inode;
}

static void add_inodes(struct buffer *record, enum wire_tag tag, size_t left_out)
{
	struct fence_inode sorted[FILES];

	memcpy(sorted, inodes, sizeof sorted);
	qsort(sorted, FILES, sizeof *sorted, by_size);
	for (size_t i = 0; i < FILES; i++)
		if (sorted[i].inode != inodes[left_out].inode)
			wire_add(record, tag, &sorted[i], sizeof sorted[i]);
}

typedef bool has_fn(const struct baseline *baseline, const struct baseline_root *root, int at,
		    const char *name);

/* Each entry of a list is found, in whatever order it was written, and one left out is not. */
static bool finds_all(enum wire_tag tag, has_fn *has)
{
	bool held = true;

	for (size_t left_out = 0; left_out < FILES; left_out++) {
		AUTO_BUFFER struct buffer record = BUFFER_INIT(4096);
		const struct baseline_root root = { 0 };
		struct baseline baseline;

		begin(&record, VERSION);
		add_inodes(&record, tag, left_out);
		if (!reads(&record, &baseline))
			return false;
		for (size_t i = 0; i < FILES; i++)
			held = has(&baseline, &root, root_fd, names[i]) == (i != left_out) && held;
		held = !has(&baseline, &root, root_fd, "missing") && held;
		baseline_release(&baseline);
	}
	return held;
}

static void lists(void)
{
	CHECK("secrets are found in any order", finds_all(WIRE_SECRET, baseline_has_secret));
	CHECK("so are entries of others", finds_all(WIRE_OTHER, baseline_has_other));
}

static void seen(void)
{
	AUTO_BUFFER struct buffer record = BUFFER_INIT(4096);
	struct fence_seen files[3] = { { 9, 3, 1, 1, "z" },
				       { 9, 2, 1, 1, "y" },
				       { 9, 1, 1, 1, "x" } };
	const struct baseline_root moved = { .inode = { .device = 9 }, .device = 7 };
	const struct fence_seen now = { 7, 2, 1, 1, "y" };
	const struct fence_seen later = { 7, 2, 2, 1, "y" };
	struct baseline baseline;
	bool held = true;

	begin(&record, VERSION);
	CHECK("a run that saw nothing says so",
	      reads(&record, &baseline) && !baseline_saw(&baseline, &moved, &now));
	baseline_release(&baseline);
	for (size_t i = 0; i < 3; i++)
		wire_add(&record, WIRE_SEEN, &files[i], sizeof files[i]);
	if (!reads(&record, &baseline))
		abort();
	for (size_t i = 0; i < 3; i++)
		held = baseline_saw(&baseline, &moved, &files[i]) && held;
	CHECK("files that were seen are found in any order", held);
	CHECK("the number of the device may change", baseline_saw(&baseline, &moved, &now));
	CHECK("a file that was changed since was not seen",
	      !baseline_saw(&baseline, &moved, &later));
	baseline_release(&baseline);
}

/* --- known entries */

static void add_known(struct buffer *record, const struct fence_inode *inode, const char *path)
{
	AUTO_BUFFER struct buffer both = BUFFER_INIT(4096);

	buffer_add(&both, inode, sizeof *inode);
	buffer_add(&both, path, strlen(path) + 1);
	wire_add(record, WIRE_KNOWN, both.data, both.used);
}

static void add_content(struct buffer *record, const char *hash, const char *path)
{
	AUTO_BUFFER struct buffer both = BUFFER_INIT(4096);

	buffer_add(&both, hash, SHA256_HEX);
	buffer_add(&both, path, strlen(path) + 1);
	wire_add(record, WIRE_CONTENT, both.data, both.used);
}

static bool knows(const struct buffer *record, const char *name, const char *path)
{
	const struct baseline_root root = { 0 };
	struct baseline baseline;
	bool known;

	if (!reads(record, &baseline))
		abort();
	known = baseline_knows(&baseline, &root, root_fd, name, path);
	baseline_release(&baseline);
	return known;
}

static void known(void)
{
	AUTO_BUFFER struct buffer record = BUFFER_INIT(4096);
	struct fence_inode other = inodes[1];

	begin(&record, VERSION);
	CHECK("a new entry is not known", !knows(&record, "a", "/p/x/a"));
	CHECK("one that is missing is", knows(&record, "missing", "/p/x/missing"));
	add_known(&record, &inodes[0], "/p/x/a");
	other.birth_ns++;
	add_known(&record, &other, "/p/x/b");
	CHECK("an entry is known by its inode", knows(&record, "a", "/p/x/a"));
	CHECK("with its time of birth", !knows(&record, "b", "/p/x/b"));
	CHECK("it may have moved", knows(&record, "a", "/p/y/a"));
	CHECK("an entry in its place is not known", !knows(&record, "c", "/p/x/a"));

	char hash[SHA256_HEX];

	if (known_hash(root_fd, "c", hash) < 0)
		abort();
	add_content(&record, hash, "/p/other/c");
	CHECK("content elsewhere does not hold it", knows(&record, "a", "/p/y/a"));
	add_content(&record, hash, "/p/x/c");
	CHECK("content beside it holds it in its place",
	      !knows(&record, "a", "/p/y/a") && knows(&record, "a", "/p/x/a"));
	CHECK("an entry is known by its content at its path",
	      knows(&record, "c", "/p/x/c") && !knows(&record, "c", "/p/z/c"));
	hash[0] = hash[0] == '0' ? '1' : '0';
	add_content(&record, hash, "/p/z/d");
	CHECK("another content is not known", !knows(&record, "d", "/p/z/d"));
}

static void links(void)
{
	AUTO_BUFFER struct buffer record = BUFFER_INIT(4096);

	if (symlinkat("target", root_fd, "link") < 0)
		abort();
	begin(&record, VERSION);
	wire_add_string(&record, WIRE_LINK, "/p/link");
	wire_add_string(&record, WIRE_LINK, "target");
	wire_add_string(&record, WIRE_LINK, "/p/other");
	wire_add_string(&record, WIRE_LINK, "elsewhere");
	CHECK("a link is known by its path and its target",
	      knows(&record, "link", "/p/link") && !knows(&record, "link", "/p/moved") &&
		      !knows(&record, "link", "/p/other"));
}

int main(void)
{
	if (!unit_temp(folder))
		return 1;
	root_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return 1;
	damage();
	versions();
	overlaps();
	make_files();
	lists();
	seen();
	known();
	links();
	close(root_fd);
	return unit_failures > 0;
}
