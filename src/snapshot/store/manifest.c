/* Manifests of checkpoints. */
#include "snapshot/store/manifest.h"

#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST "ringfence 1"

enum { FILES, PROGRAMS, FOLDERS, CLASSES };

static int class_of(const struct node *node)
{
	if (node->kind == NODE_FOLDER)
		return FOLDERS;
	/* git stores a chunked file as a tree, which has no executable bit. */
	return !node->chunked && node->mode & 0100 ? PROGRAMS : FILES;
}

static bool has_mode(const struct node *node)
{
	return node->kind == NODE_FILE || node->kind == NODE_FOLDER;
}

struct writing {
	struct buffer *out;
	uint32_t *counts[CLASSES]; /* by mode */
	mode_t usual[CLASSES];
};

static int count_mode(void *context, struct node *node, const char *path)
{
	struct writing *writing = context;

	(void)path;
	if (has_mode(node))
		writing->counts[class_of(node)][node->mode & 07777]++;
	return 0;
}

static void add_record(struct buffer *out, const char *head, const char *path)
{
	buffer_add_text(out, head);
	buffer_add(out, path, strlen(path) + 1);
}

static int write_node(void *context, struct node *node, const char *path)
{
	struct writing *writing = context;
	char head[256];

	if (has_mode(node) && node->mode != writing->usual[class_of(node)]) {
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
	return 0;
}

void manifest_write(struct node *root, struct buffer *out)
{
	static const mode_t fallback[CLASSES] = { 0644, 0755, 0755 };
	struct writing writing = { .out = out };
	char head[64];

	for (int i = 0; i < CLASSES; i++)
		writing.counts[i] = mem_zero(010000 * sizeof **writing.counts);
	node_each(root, count_mode, &writing);
	for (int i = 0; i < CLASSES; i++) {
		uint32_t most = 0;

		writing.usual[i] = fallback[i];
		for (mode_t mode = 0; mode < 010000; mode++) {
			if (writing.counts[i][mode] > most) {
				most = writing.counts[i][mode];
				writing.usual[i] = mode;
			}
		}
		free(writing.counts[i]);
	}
	add_record(out, FIRST, "");
	snprintf(head, sizeof head, "modes %o %o %o", writing.usual[FILES], writing.usual[PROGRAMS],
		 writing.usual[FOLDERS]);
	add_record(out, head, "");
	write_node(&writing, root, "");
	node_each(root, write_node, &writing);
}

struct reading {
	mode_t usual[CLASSES];
	struct node *root;
};

static int set_default_mode(void *context, struct node *node, const char *path)
{
	const struct reading *reading = context;

	(void)path;
	if (has_mode(node))
		node->mode = reading->usual[class_of(node)];
	return 0;
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

static bool parse_modes(struct reading *reading, const char *text)
{
	unsigned long mode;

	if (strncmp(text, "modes ", 6) != 0)
		return false;
	text += 6;
	for (int i = 0; i < CLASSES; i++) {
		if (!parse_number(&text, 8, 07777, &mode))
			return false;
		reading->usual[i] = (mode_t)mode;
	}
	return *text == '\0';
}

/*
 * Adds an entry that git trees cannot represent; its folder must exist. The caller keeps the path.
 */
static struct node *insert_node(struct node *root, const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *above = strndup(path, slash ? (size_t)(slash - path) : 0);
	struct node *folder = above ? node_at(root, above) : NULL;
	const char *name = slash ? slash + 1 : path;

	if (!folder || folder->kind != NODE_FOLDER || !*name || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0 || node_find(folder, name))
		return NULL;
	return node_insert(folder, name);
}

static bool parse_record(struct reading *reading, const char *text)
{
	unsigned long number;
	struct node *node;
	char kind = text[0];

	if (!kind || text[1] != ' ')
		return false;
	text += 2;
	if (kind == 's') {
		const char *colon = strstr(text, ": ");

		node = colon ? insert_node(reading->root, colon + 2) : NULL;
		if (!node)
			return false;
		node->kind = NODE_SKIPPED;
		node->why = node_why_parse(text, (size_t)(colon - text));
		return true;
	}
	if (!parse_number(&text, kind == 'h' ? 10 : 8, kind == 'h' ? UINT32_MAX : 07777, &number))
		return false;
	if (kind == 'p') {
		node = insert_node(reading->root, text);
		if (!node)
			return false;
		node->kind = NODE_FIFO;
		node->mode = (mode_t)number;
		return true;
	}
	node = node_at(reading->root, text);
	if (!node || (kind != 'm' && kind != 'h') || (kind == 'm' && !has_mode(node)) ||
	    (kind == 'h' && (node->kind != NODE_FILE || number == 0)))
		return false;
	if (kind == 'm')
		node->mode = (mode_t)number;
	else
		node->group = (uint32_t)number;
	return true;
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

int manifest_read(const char *bytes, size_t size, struct node *root, struct error *err)
{
	struct reading reading = { .root = root };
	const char *at = copy_names(root, bytes, size);
	const char *end = at + size;

	if (!size || end[-1] != '\0' || strcmp(at, FIRST) != 0 || (at += strlen(at) + 1) == end ||
	    !parse_modes(&reading, at))
		return error_set(err, "the checkpoint's manifest has an unknown format");
	node_each(root, set_default_mode, &reading);
	root->mode = reading.usual[FOLDERS];
	for (at += strlen(at) + 1; at < end; at += strlen(at) + 1)
		if (!parse_record(&reading, at))
			return error_set(err, "the checkpoint's manifest is damaged");
	return 0;
}
