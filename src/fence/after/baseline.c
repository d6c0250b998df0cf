/* Baselines of runs: see baseline.h. */
#include "fence/after/baseline.h"

#include "fence/plan/known.h"
#include "fence/plan/ruleset.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Records without a version are the first. */
enum { VERSION = 2 };

static void write_at(struct buffer *record, enum wire_tag tag, const void *data, size_t size,
		     const char *path)
{
	AUTO_BUFFER struct buffer both = BUFFER_INIT(PATH_MAX * 4);

	buffer_add(&both, data, size);
	buffer_add(&both, path, strlen(path) + 1);
	wire_add(record, tag, both.data, both.used);
}

/* A place that another source is mounted over was never written to, nor was the source. The host
 * does not see a draft. */
bool baseline_is_root(const struct fence_rule *rule)
{
	return rule->access == WIRE_WRITE && rule->is_dir && !rule->source && !rule->draft;
}

static void write_root(const struct fence_rule *rule, int root, struct buffer *record)
{
	struct fence_inode inode;

	if (known_identify(root, ".", &inode) < 0)
		inode = (struct fence_inode){ .device = rule->device, .inode = rule->inode };
	wire_add_string(record, WIRE_ROOT, rule->path);
	wire_add(record, WIRE_ROOT_INODE, &inode, sizeof inode);
}

static void write_rules(const struct fence_plan *plan, const int *roots, struct buffer *record)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct fence_rule *rule = &plan->rules[i];

		if (baseline_is_root(rule))
			write_root(rule, *roots++, record);
		if (rule->access >= WIRE_HIDE && (rule->exact || rule->ignored) && rule->is_dir)
			wire_add_string(record, WIRE_HIDDEN, rule->path);
	}
}

static void write_inodes(const struct fence_plan *plan, struct buffer *record)
{
	uint64_t room = plan->rule_count < RULESET_MOST ? RULESET_MOST - plan->rule_count : 0;

	wire_add(record, WIRE_ROOM, &room, sizeof room);
	for (size_t i = 0; i < plan->secret_count; i++)
		wire_add(record, WIRE_SECRET, &plan->secrets[i], sizeof plan->secrets[i]);
	for (size_t i = 0; i < plan->seen_count; i++)
		wire_add(record, WIRE_SEEN, &plan->seen[i], sizeof plan->seen[i]);
	for (size_t i = 0; i < plan->other_count; i++)
		wire_add(record, WIRE_OTHER, &plan->others[i], sizeof plan->others[i]);
	for (size_t i = 0; i < plan->spec->patterns.count; i++) {
		const struct glob *glob = &plan->spec->patterns.items[i].glob;
		const char flags[] = { glob->rooted ? 'r' : '-', glob->folders ? 'f' : '-' };

		write_at(record, WIRE_PATTERN, flags, sizeof flags, glob->text);
	}
}

void baseline_write(const struct fence_plan *plan, const int *roots, struct buffer *record)
{
	const uint32_t version = VERSION;

	wire_add(record, WIRE_VERSION, &version, sizeof version);
	wire_add_string(record, WIRE_CWD, plan->project);
	write_rules(plan, roots, record);
	for (size_t i = 0; i < plan->known_count; i++) {
		const struct fence_known *known = &plan->known[i];

		if (known->content[0])
			write_at(record, WIRE_CONTENT, known->content, SHA256_HEX, known->path);
		else
			write_at(record, WIRE_KNOWN, &known->inode, sizeof known->inode,
				 known->path);
	}
	for (size_t i = 0; i < plan->link_count; i++) {
		wire_add_string(record, WIRE_LINK, plan->links[i].path);
		wire_add_string(record, WIRE_LINK, plan->links[i].target);
	}
	for (size_t i = 0; i < plan->exempt.count; i++)
		wire_add_string(record, WIRE_EXEMPT, plan->exempt.items[i]);
	write_inodes(plan, record);
}

/* Returns a new last element, zeroed, of an array. */
static void *extend(void *array, size_t *count, size_t size)
{
	void **items = array;

	*items = mem_extend(*items, *count, size);
	return memset((char *)*items + (*count)++ * size, 0, size);
}

#define EXTEND(array, count) extend(&(array), &(count), sizeof *(array))

static bool read_root(struct baseline *baseline, const struct wire_record *at)
{
	struct baseline_root *root;

	if (at->tag == WIRE_ROOT) {
		root = EXTEND(baseline->roots, baseline->root_count);
		root->path = wire_string(at, 0);
		root->held = -1;
		return root->path && root->path[0] == '/';
	}
	if (!baseline->root_count || at->size != sizeof root->inode)
		return false;
	root = &baseline->roots[baseline->root_count - 1];
	memcpy(&root->inode, at->data, at->size);
	root->device = root->inode.device;
	return true;
}

static bool read_known(struct baseline *baseline, const struct wire_record *at)
{
	struct baseline_known *known = EXTEND(baseline->known, baseline->known_count);

	if (at->size < sizeof known->inode)
		return false;
	memcpy(&known->inode, at->data, sizeof known->inode);
	known->path = wire_string(at, sizeof known->inode);
	return known->path;
}

static bool read_content(struct baseline *baseline, const struct wire_record *at)
{
	struct baseline_content *content = EXTEND(baseline->contents, baseline->content_count);

	content->hash = at->data;
	content->path = wire_string(at, SHA256_HEX);
	return content->path && content->path[0] == '/' && content->hash[SHA256_HEX - 1] == '\0';
}

/* Links come as two records: the path, then the target. */
static bool read_link(struct baseline *baseline, const char *text)
{
	size_t last = baseline->link_count - 1;

	if (!text)
		return false;
	if (baseline->link_count && !baseline->links[last].target) {
		baseline->links[last].target = text;
		return true;
	}

	struct baseline_link *link = EXTEND(baseline->links, baseline->link_count);

	link->path = text;
	return text[0] == '/';
}

static bool read_inode(struct fence_inode **list, size_t *count, const struct wire_record *at)
{
	struct fence_inode *inode = extend(list, count, sizeof *inode);

	if (at->size != sizeof *inode)
		return false;
	memcpy(inode, at->data, sizeof *inode);
	return true;
}

static bool read_seen(struct baseline *baseline, const struct wire_record *at)
{
	struct fence_seen *seen = EXTEND(baseline->seen, baseline->seen_count);

	if (at->size != sizeof *seen)
		return false;
	memcpy(seen, at->data, sizeof *seen);
	return true;
}

static bool read_pattern(struct baseline *baseline, const struct wire_record *at)
{
	const char *text = wire_string(at, 2);

	if (!text)
		return false;

	struct glob *glob = EXTEND(baseline->patterns, baseline->pattern_count);

	*glob = (struct glob){ .text = mem_dup(text),
			       .rooted = at->data[0] == 'r',
			       .folders = at->data[1] == 'f' };
	return true;
}

static bool read_text(const char ***list, size_t *count, const char *text)
{
	const char **last = extend(list, count, sizeof **list);

	*last = text;
	return text;
}

static bool read_one(struct baseline *baseline, const struct wire_record *at)
{
	const char *text = wire_string(at, 0);
	uint32_t version = 0;

	if (baseline->foreign && at->tag != WIRE_CWD && at->tag != WIRE_ROOT &&
	    at->tag != WIRE_VERSION)
		return true;
	switch (at->tag) {
	case WIRE_VERSION:
		if (at->size == sizeof version)
			memcpy(&version, at->data, sizeof version);
		baseline->foreign = version != VERSION;
		return true;
	case WIRE_CWD:
		baseline->project = text;
		return text && text[0] == '/';
	case WIRE_ROOT:
	case WIRE_ROOT_INODE:
		return read_root(baseline, at);
	case WIRE_KNOWN:
		return read_known(baseline, at);
	case WIRE_CONTENT:
		return read_content(baseline, at);
	case WIRE_LINK:
		return read_link(baseline, text);
	case WIRE_EXEMPT:
		return read_text(&baseline->exempt, &baseline->exempt_count, text);
	case WIRE_HIDDEN:
		return read_text(&baseline->hidden, &baseline->hidden_count, text);
	case WIRE_SECRET:
		return read_inode(&baseline->secrets, &baseline->secret_count, at);
	case WIRE_SEEN:
		return read_seen(baseline, at);
	case WIRE_OTHER:
		return read_inode(&baseline->others, &baseline->other_count, at);
	case WIRE_PATTERN:
		return read_pattern(baseline, at);
	case WIRE_ROOM:
		if (at->size == sizeof baseline->room)
			memcpy(&baseline->room, at->data, at->size);
		return at->size == sizeof baseline->room;
	default:
		return false;
	}
}

static int by_number(const void *a, const void *b)
{
	const struct fence_inode *left = a;
	const struct fence_inode *right = b;

	return left->inode < right->inode ? -1 : left->inode > right->inode;
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct fence_seen));
}

/* struct baseline_known begins with its inode. */
static void sort(struct baseline *baseline)
{
	if (baseline->known_count)
		qsort(baseline->known, baseline->known_count, sizeof *baseline->known, by_number);
	if (baseline->secret_count)
		qsort(baseline->secrets, baseline->secret_count, sizeof *baseline->secrets,
		      by_number);
	if (baseline->seen_count)
		qsort(baseline->seen, baseline->seen_count, sizeof *baseline->seen, by_bytes);
	if (baseline->other_count)
		qsort(baseline->others, baseline->other_count, sizeof *baseline->others, by_number);
}

int baseline_read(const char *bytes, size_t size, struct baseline *ret_baseline, struct error *err)
{
	struct wire_reader reader = { .at = bytes, .left = size };
	struct baseline baseline = { .foreign = true };
	struct wire_record at;
	int more;

	while ((more = wire_next(&reader, &at)) > 0)
		if (!read_one(&baseline, &at)) {
			baseline_release(&baseline);
			return error_set(err, "the run record is damaged (tag %u)", at.tag);
		}
	if (more < 0 || !baseline.project ||
	    (baseline.link_count && !baseline.links[baseline.link_count - 1].target)) {
		baseline_release(&baseline);
		return error_set(err, "the run record is damaged or truncated");
	}
	sort(&baseline);
	*ret_baseline = baseline;
	return 0;
}

void baseline_release(struct baseline *baseline)
{
	for (size_t i = 0; i < baseline->root_count; i++)
		free(baseline->roots[i].now);
	free(baseline->roots);
	free(baseline->known);
	free(baseline->contents);
	free(baseline->links);
	free(baseline->exempt);
	free(baseline->hidden);
	free(baseline->secrets);
	free(baseline->seen);
	free(baseline->others);
	for (size_t i = 0; i < baseline->pattern_count; i++)
		glob_release(&baseline->patterns[i]);
	free(baseline->patterns);
	*baseline = (struct baseline){ 0 };
}

bool baseline_overlaps(const struct baseline *baseline, const char *path)
{
	bool overlaps = path_within(path, baseline->project) ||
			path_within(baseline->project, path);

	for (size_t i = 0; !overlaps && i < baseline->root_count; i++)
		overlaps = path_within(path, baseline->roots[i].path) ||
			   path_within(baseline->roots[i].path, path);
	return overlaps;
}

struct baseline_root *baseline_root(const struct baseline *baseline, const char *path)
{
	struct baseline_root *deepest = NULL;

	for (size_t i = 0; i < baseline->root_count; i++) {
		struct baseline_root *root = &baseline->roots[i];

		if (path_within(path, root->path) && strcmp(path, root->path) != 0 &&
		    (!deepest || strlen(root->path) > strlen(deepest->path)))
			deepest = root;
	}
	return deepest;
}

/* Returns the first element with this inode number in a sorted array of elements that begin with
 * an inode, or the end. */
static size_t find_number(const void *array, size_t count, size_t size, uint64_t number)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;
		const struct fence_inode *at = (const void *)((const char *)array + middle * size);

		if (at->inode < number)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

static bool is_same(const struct fence_inode *a, const struct fence_inode *b)
{
	return a->device == b->device && a->inode == b->inode && a->birth_s == b->birth_s &&
	       a->birth_ns == b->birth_ns;
}

/* After a reboot the device may have another number; a birth time is enough then. */
bool baseline_is_same(const struct baseline_root *root, const struct fence_inode *inode)
{
	return root->inode.inode == inode->inode && root->inode.birth_s == inode->birth_s &&
	       root->inode.birth_ns == inode->birth_ns &&
	       (root->inode.birth_s || root->device == inode->device);
}

/* Identifies an entry as it would have been when the record was written. */
static int identify(const struct baseline_root *root, int folder, const char *name,
		    struct fence_inode *ret_inode)
{
	if (known_identify(folder, name, ret_inode) < 0)
		return -1;
	if (ret_inode->device == root->device)
		ret_inode->device = root->inode.device;
	return 0;
}

/* Reports whether files in the same folder as the path, or below it, are known by content. They are
 * looked up by path. */
static bool has_content_beside(const struct baseline *baseline, const char *path)
{
	size_t size = (size_t)(path_name(path) - path);

	for (size_t i = 0; i < baseline->content_count; i++)
		if (strncmp(baseline->contents[i].path, path, size) == 0)
			return true;
	return false;
}

/* An entry that was moved with the folder above it is still the same, unless files beside it or
 * below it are known by content. */
static bool knows_inode(const struct baseline *baseline, const struct fence_inode *inode,
			const char *path)
{
	size_t i = find_number(baseline->known, baseline->known_count, sizeof *baseline->known,
			       inode->inode);

	for (; i < baseline->known_count && baseline->known[i].inode.inode == inode->inode; i++)
		if (is_same(&baseline->known[i].inode, inode) &&
		    (strcmp(baseline->known[i].path, path) == 0 ||
		     !has_content_beside(baseline, baseline->known[i].path)))
			return true;
	return false;
}

static bool knows_content(const struct baseline *baseline, int folder, const char *name,
			  const char *path)
{
	char hash[SHA256_HEX];

	for (size_t i = 0; i < baseline->content_count; i++)
		if (strcmp(baseline->contents[i].path, path) == 0)
			return known_hash(folder, name, hash) == 0 &&
			       strcmp(hash, baseline->contents[i].hash) == 0;
	return false;
}

static bool has_link(const struct baseline *baseline, const char *path, const char *target)
{
	for (size_t i = 0; i < baseline->link_count; i++)
		if (strcmp(baseline->links[i].path, path) == 0 &&
		    strcmp(baseline->links[i].target, target) == 0)
			return true;
	return false;
}

static bool knows_link(const struct baseline *baseline, int folder, const char *name,
		       const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(folder, name, target, sizeof target - 1);

	if (n <= 0)
		return false;
	target[n] = '\0';
	return has_link(baseline, path, target);
}

bool baseline_knows(const struct baseline *baseline, const struct baseline_root *root, int folder,
		    const char *name, const char *path)
{
	struct fence_inode inode;

	if (identify(root, folder, name, &inode) < 0)
		return errno == ENOENT;
	return knows_inode(baseline, &inode, path) || knows_link(baseline, folder, name, path) ||
	       knows_content(baseline, folder, name, path);
}

bool baseline_exempts(const struct baseline *baseline, const char *path)
{
	for (size_t i = 0; i < baseline->exempt_count; i++)
		if (path_within(path, baseline->exempt[i]))
			return true;
	return false;
}

static bool has_inode(const struct fence_inode *list, size_t count,
		      const struct baseline_root *root, int folder, const char *name)
{
	struct fence_inode inode;

	if (identify(root, folder, name, &inode) < 0)
		return false;
	for (size_t i = find_number(list, count, sizeof inode, inode.inode);
	     i < count && list[i].inode == inode.inode; i++)
		if (is_same(&list[i], &inode))
			return true;
	return false;
}

bool baseline_has_secret(const struct baseline *baseline, const struct baseline_root *root,
			 int folder, const char *name)
{
	return has_inode(baseline->secrets, baseline->secret_count, root, folder, name);
}

bool baseline_saw(const struct baseline *baseline, const struct baseline_root *root,
		  const struct fence_seen *seen)
{
	struct fence_seen then = *seen;

	if (then.device == root->device)
		then.device = root->inode.device;
	return baseline->seen_count &&
	       bsearch(&then, baseline->seen, baseline->seen_count, sizeof then, by_bytes);
}

bool baseline_has_other(const struct baseline *baseline, const struct baseline_root *root,
			int folder, const char *name)
{
	return has_inode(baseline->others, baseline->other_count, root, folder, name);
}

/* Returns the root that a folder is, or NULL. */
static const struct baseline_root *root_at(const struct baseline *baseline,
					   const struct fence_inode *inode)
{
	for (size_t i = 0; i < baseline->root_count; i++)
		if (baseline_is_same(&baseline->roots[i], inode))
			return &baseline->roots[i];
	return NULL;
}

/* The folders above an entry: the root among them, by path or by identity, and whether the run
 * knows one on the way there. */
struct above {
	const struct baseline_root *root;
	bool known;
};

/* Goes up from a folder by its entry "..", so that nobody can replace a folder meanwhile. Returns
 * 0, or -1 with errno. */
static int look_above(const struct baseline *baseline, const char *path, struct above *ret_above)
{
	AUTO_FREE char *at = path_folder(path);
	AUTO_FD folder = open(at, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct fence_inode inode;
	struct fence_inode below = { 0 };

	*ret_above = (struct above){ .root = baseline_root(baseline, path) };
	while (folder >= 0 && known_identify(folder, ".", &inode) == 0) {
		const struct baseline_root *root = root_at(baseline, &inode);

		if (*at)
			*strrchr(at, '/') = '\0';
		ret_above->known = ret_above->known || knows_inode(baseline, &inode, at);
		if (root)
			ret_above->root = root;
		if (root || is_same(&inode, &below))
			return 0;
		below = inode;

		int up = openat(folder, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		fd_close(&folder);
		folder = up;
	}
	return -1;
}

/* Reports whether the run knows a folder above the path, or cannot write there. */
static bool vouches_above(const struct baseline *baseline, const char *path)
{
	struct above above;

	if (baseline_exempts(baseline, path))
		return true;
	return look_above(baseline, path, &above) == 0 && (above.known || !above.root);
}

/* Reports whether an entry is still the one that was seen at its path. */
static bool is_still(const struct fence_known *known)
{
	struct fence_inode now;

	return known_identify(AT_FDCWD, known->path, &now) == 0 && is_same(&now, &known->inode);
}

bool baseline_vouches(const struct baseline *baseline, const struct fence_known *known)
{
	return (vouches_above(baseline, known->path) && is_still(known)) ||
	       knows_inode(baseline, &known->inode, known->path) ||
	       knows_content(baseline, AT_FDCWD, known->path, known->path);
}

bool baseline_vouches_link(const struct baseline *baseline, const struct fence_link *link)
{
	return vouches_above(baseline, link->path) || has_link(baseline, link->path, link->target);
}
