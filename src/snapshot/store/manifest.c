/* Manifests of checkpoints. */
#include "snapshot/store/manifest.h"

#include "snapshot/generated.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const firsts[] = { "ringfence 1", "ringfence 2" };

enum { NEWEST = sizeof firsts / sizeof *firsts };

static int class_of(const struct node *node)
{
	if (node->kind == NODE_FOLDER)
		return MANIFEST_FOLDERS;
	/* git stores a chunked file as a tree, which has no executable bit. */
	return !node->chunked && node->mode & 0100 ? MANIFEST_PROGRAMS : MANIFEST_FILES;
}

static bool has_mode(const struct node *node)
{
	return node->kind == NODE_FILE || node->kind == NODE_FOLDER;
}

/* ---- writing ---- */

struct counts {
	uint32_t *by_mode[MANIFEST_CLASSES];
};

static int count_mode(void *context, struct node *node, const char *path)
{
	struct counts *counts = context;

	(void)path;
	if (has_mode(node))
		counts->by_mode[class_of(node)][node->mode & 07777]++;
	return 0;
}

/* Finds the most common modes. */
static void find_usual(struct node *root, struct manifest_head *head)
{
	static const mode_t fallback[MANIFEST_CLASSES] = { 0644, 0755, 0755 };
	struct counts counts;

	for (int i = 0; i < MANIFEST_CLASSES; i++)
		counts.by_mode[i] = mem_zero(010000 * sizeof **counts.by_mode);
	node_each(root, count_mode, &counts);
	for (int i = 0; i < MANIFEST_CLASSES; i++) {
		uint32_t most = 0;

		head->usual[i] = fallback[i];
		for (mode_t mode = 0; mode < 010000; mode++) {
			if (counts.by_mode[i][mode] > most) {
				most = counts.by_mode[i][mode];
				head->usual[i] = mode;
			}
		}
		free(counts.by_mode[i]);
	}
}

static void add_record(struct buffer *out, const char *head, const char *path)
{
	buffer_add_text(out, head);
	buffer_add(out, path, strlen(path) + 1);
}

/* Reports whether one of the folders above a path is generated. */
static bool is_below_generated(const char *path)
{
	for (const char *end; (end = strchr(path, '/')); path = end + 1) {
		AUTO_FREE char *name = strndup(path, (size_t)(end - path));

		if (name && generated_is(name))
			return true;
	}
	return false;
}

static bool is_topmost_generated(const struct node *node, const char *path)
{
	return (has_mode(node) || node->kind == NODE_LINK) && generated_is(node->name) &&
	       !is_below_generated(path);
}

struct writing {
	struct buffer *out;
	struct manifest_head head;
};

static int write_node(void *context, struct node *node, const char *path)
{
	struct writing *writing = context;
	char head[256];

	if (has_mode(node) && node->mode != writing->head.usual[class_of(node)]) {
		snprintf(head, sizeof head, "m %o ", node->mode);
		add_record(writing->out, head, path);
	}
	if (node->group) {
		snprintf(head, sizeof head, "h %u ", node->group);
		add_record(writing->out, head, path);
	}
	if (node->kind == NODE_FIFO) {
		snprintf(head, sizeof head, "p %o ", node->mode);
		add_record(writing->out, head, path);
	}
	if (node->kind == NODE_SKIPPED) {
		snprintf(head, sizeof head, "s %s: ", node_why_text(node->why));
		add_record(writing->out, head, path);
	}
	if (*path && is_topmost_generated(node, path))
		add_record(writing->out, "g ", path);
	return 0;
}

void manifest_write(struct node *root, const struct manifest_head *like, struct buffer *out)
{
	struct writing writing = { .out = out };
	const mode_t *usual = writing.head.usual;
	char head[64];

	if (like)
		writing.head = *like;
	else
		find_usual(root, &writing.head);
	add_record(out, firsts[NEWEST - 1], "");
	snprintf(head, sizeof head, "modes %o %o %o", usual[MANIFEST_FILES],
		 usual[MANIFEST_PROGRAMS], usual[MANIFEST_FOLDERS]);
	add_record(out, head, "");
	write_node(&writing, root, "");
	node_each(root, write_node, &writing);
}

/* ---- reading ---- */

void manifest_set_modes(const struct manifest_head *head, struct node *folder)
{
	for (size_t i = 0; i < folder->count; i++)
		if (has_mode(&folder->inner[i]))
			folder->inner[i].mode = head->usual[class_of(&folder->inner[i])];
}

/* Parses an octal or decimal number and a space, and moves *at past them. */
static bool parse_number(const char **at, int base, unsigned long most, unsigned long *ret_number)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*ret_number = strtoul(*at, &end, base);
	if ((*end != ' ' && *end != '\0') || *ret_number > most)
		return false;
	*at = end + (*end == ' ');
	return true;
}

static bool parse_modes(const char *text, struct manifest_head *head)
{
	unsigned long mode;

	if (strncmp(text, "modes ", 6) != 0)
		return false;
	text += 6;
	for (int i = 0; i < MANIFEST_CLASSES; i++) {
		if (!parse_number(&text, 8, 07777, &mode))
			return false;
		head->usual[i] = (mode_t)mode;
	}
	return *text == '\0';
}

static int parse_version(const char *text)
{
	for (int i = 0; i < NEWEST; i++)
		if (strcmp(text, firsts[i]) == 0)
			return i + 1;
	return 0;
}

int manifest_read_head(const char *bytes, size_t size, struct manifest_head *ret_head,
		       struct error *err)
{
	struct manifest_head head = { 0 };

	if (size && bytes[size - 1] == '\0') {
		head.version = parse_version(bytes);
		head.size = strlen(bytes) + 1;
	}
	if (!head.version || head.size == size || !parse_modes(bytes + head.size, &head))
		return error_set(err, "the checkpoint's manifest has an unknown format");
	head.size += strlen(bytes + head.size) + 1;
	*ret_head = head;
	return 0;
}

struct reading {
	struct node *root;
	manifest_folder_fn *find;
	void *context;
	struct error *err;
};

static int report_damage(const struct reading *reading)
{
	return error_set(reading->err, "the checkpoint's manifest is damaged");
}

/* Finds the open folder that contains a path. */
static int find_above(const struct reading *reading, const char *path, struct node **ret_folder,
		      const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *above = strndup(path, slash ? (size_t)(slash - path) : 0);

	*ret_name = slash ? slash + 1 : path;
	if (reading->find(reading->context, above ? above : "", ret_folder, reading->err) < 0)
		return -1;
	return *ret_folder ? 0 : report_damage(reading);
}

/* Finds an entry that git trees represent. */
static int find_node(const struct reading *reading, const char *path, struct node **ret_node)
{
	struct node *folder;
	const char *name;

	*ret_node = reading->root;
	if (!*path)
		return 0;
	if (find_above(reading, path, &folder, &name) < 0)
		return -1;
	*ret_node = node_find(folder, name);
	return *ret_node ? 0 : report_damage(reading);
}

/*
 * Adds an entry that git trees cannot represent; its folder must exist. The caller keeps the path.
 */
static int insert_node(const struct reading *reading, const char *path, struct node **ret_node)
{
	struct node *folder;
	const char *name;

	if (find_above(reading, path, &folder, &name) < 0)
		return -1;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || node_find(folder, name))
		return report_damage(reading);
	*ret_node = node_insert(folder, name);
	return 0;
}

static int read_mode(const struct reading *reading, const char *text)
{
	unsigned long mode;
	struct node *node;

	if (!parse_number(&text, 8, 07777, &mode))
		return report_damage(reading);
	if (find_node(reading, text, &node) < 0)
		return -1;
	if (!has_mode(node))
		return report_damage(reading);
	node->mode = (mode_t)mode;
	return 0;
}

static int read_hard_link(const struct reading *reading, const char *text)
{
	unsigned long group;
	struct node *node;

	if (!parse_number(&text, 10, UINT32_MAX, &group) || group == 0)
		return report_damage(reading);
	if (find_node(reading, text, &node) < 0)
		return -1;
	if (node->kind != NODE_FILE)
		return report_damage(reading);
	node->group = (uint32_t)group;
	return 0;
}

static int read_pipe(const struct reading *reading, const char *text)
{
	unsigned long mode;
	struct node *node;

	if (!parse_number(&text, 8, 07777, &mode))
		return report_damage(reading);
	if (insert_node(reading, text, &node) < 0)
		return -1;
	node->kind = NODE_FIFO;
	node->mode = (mode_t)mode;
	return 0;
}

static int read_skipped(const struct reading *reading, const char *text)
{
	const char *colon = strstr(text, ": ");
	struct node *node;

	if (!colon)
		return report_damage(reading);
	if (insert_node(reading, colon + 2, &node) < 0)
		return -1;
	node->kind = NODE_SKIPPED;
	node->why = node_why_parse(text, (size_t)(colon - text));
	return 0;
}

/* Finding it opens the folders above. */
static int read_generated(const struct reading *reading, const char *text)
{
	struct node *node;

	return find_node(reading, text, &node);
}

static int read_record(const struct reading *reading, const char *text)
{
	static const struct {
		char kind;
		int (*read)(const struct reading *reading, const char *text);
	} records[] = {
		{ 'm', read_mode },    { 'h', read_hard_link }, { 'p', read_pipe },
		{ 's', read_skipped }, { 'g', read_generated },
	};

	for (size_t i = 0; i < sizeof records / sizeof *records; i++)
		if (text[0] == records[i].kind && text[1] == ' ')
			return records[i].read(reading, text + 2);
	return report_damage(reading);
}

/* Inserted names point into the manifest; the root keeps a copy of its bytes. */
static char *copy_names(struct node *root, const char *bytes, size_t size)
{
	size_t names = 0;
	char *copy;

	for (size_t i = 0; i < root->count; i++)
		names += strlen(root->inner[i].name) + 1;
	copy = mem_alloc(names + size + 1);
	memcpy(copy, bytes, size);
	copy[size] = '\0';

	char *at = copy + size + 1;

	for (size_t i = 0; i < root->count; i++) {
		size_t length = strlen(root->inner[i].name) + 1;

		root->inner[i].name = memcpy(at, root->inner[i].name, length);
		at += length;
	}
	free(root->names);
	root->names = copy;
	return copy;
}

int manifest_read(const char *bytes, size_t size, struct node *root, manifest_folder_fn *find,
		  void *context, struct error *err)
{
	struct reading reading = { root, find, context, err };
	struct manifest_head head;
	const char *copy;

	if (manifest_read_head(bytes, size, &head, err) < 0)
		return -1;
	copy = copy_names(root, bytes, size);
	root->mode = head.usual[MANIFEST_FOLDERS];
	for (const char *at = copy + head.size; at < copy + size; at += strlen(at) + 1)
		if (read_record(&reading, at) < 0)
			return -1;
	return 0;
}
