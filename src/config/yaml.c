/* The subset of YAML for configurations: see yaml.h. */
#include "config/yaml.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reader {
	yaml_parser_t parser;
	const char *file;
	struct list *problems;
	size_t nodes;
	bool stop; /* parsing cannot continue */
};

const char *yaml_kind_name(enum yaml_kind kind)
{
	static const char *const names[] = { "a single value", "a list", "a map" };

	return names[kind];
}

void yaml_tree_free(struct yaml_node *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->count; i++)
		yaml_tree_free(node->items[i]);
	free(node->items);
	free(node->text);
	free(node->key);
	free(node);
}

static struct problem_position position(const yaml_mark_t *mark)
{
	return (struct problem_position){ (unsigned int)mark->line + 1,
					  (unsigned int)mark->column + 1 };
}

/* Whether a character is allowed: all but control characters other than tab and newlines. */
static bool is_allowed(uint32_t point)
{
	return point == '\t' || point == '\n' || point == '\r' || (point >= 0x20 && point < 0x7f) ||
	       point == 0x85 || (point >= 0xa0 && point < 0xfffe && point != 0xfeff) ||
	       point >= 0x10000;
}

/* Checks the bytes before they are parsed. */
static int check_bytes(struct reader *reader, const char *text, size_t size)
{
	struct problem_position at = { 1, 1 };
	bool indenting = true;

	for (size_t i = 0; i < size;) {
		uint32_t point = 0;
		size_t length = text_utf8(text + i, size - i, &point);

		if (text[i] == '\0')
			problem_add(reader->problems, reader->file, at,
				    "a NUL byte; this is not a text file");
		else if (length == 0)
			problem_add(reader->problems, reader->file, at,
				    "the byte 0x%02x is not valid UTF-8; save the file as UTF-8",
				    (unsigned char)text[i]);
		else if (!is_allowed(point))
			problem_add(
				reader->problems, reader->file, at,
				"the character U+%04X is not allowed; write it as \\u%04x in double quotes",
				point, point);
		else if (point == '\t' && indenting)
			problem_add(reader->problems, reader->file, at,
				    "a tab as indentation; indent with spaces");
		else {
			indenting = indenting && point == ' ';
			at.column++;
			if (point == '\n') {
				at = (struct problem_position){ at.line + 1, 1 };
				indenting = true;
			}
			i += length;
			continue;
		}
		return -1;
	}
	return 0;
}

/* Reports the parser's error, with a hint. */
static void report_syntax(struct reader *reader)
{
	static const struct {
		const char *part;
		const char *hint;
		bool begins; /* report the start of the construct, not where it went wrong */
	} hints[] = {
		{ "mapping values are not allowed",
		  " (quote a value that contains ': '; keys of one map start in the same column)" },
		{ "cannot start any token", " (quote a value that starts with @, ` or %)" },
		{ "did not find expected key",
		  " (keys of one map start in the same column; quote a value that starts with a quote or bracket)" },
		{ "did not find expected '-' indicator",
		  " (entries of one list start in the same column)" },
		{ "could not find expected ':'", " (a key needs a colon and a space after it)",
		  true },
		{ "did not find expected ',' or",
		  " (a bracket is not closed, or a comma is missing)", true },
		{ "unexpected end of stream", " (a quote is not closed)", true },
		{ "found unknown escape character",
		  " (double the backslash in double quotes, or use single quotes)" },
	};
	const yaml_parser_t *parser = &reader->parser;
	const char *problem = parser->problem ? parser->problem : "the parser gave no reason";
	const yaml_mark_t *mark = &parser->problem_mark;
	const char *hint = "";

	for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
		if (strstr(problem, hints[i].part)) {
			hint = hints[i].hint;
			mark = hints[i].begins ? &parser->context_mark : mark;
		}
	}
	problem_add(reader->problems, reader->file, position(mark), "invalid YAML: %s%s", problem,
		    hint);
	reader->stop = true;
}

static bool next(struct reader *reader, yaml_event_t *event)
{
	if (reader->stop)
		return false;
	if (!yaml_parser_parse(&reader->parser, event)) {
		report_syntax(reader);
		return false;
	}
	return true;
}

static void refuse(struct reader *reader, const yaml_event_t *event, const char *why)
{
	problem_add(reader->problems, reader->file, position(&event->start_mark), "%s", why);
}

static void refuse_decoration(struct reader *reader, const yaml_event_t *event, const void *anchor,
			      const void *tag)
{
	if (anchor)
		refuse(reader, event, "anchors (&name) are not allowed; write the value out");
	if (tag)
		refuse(reader, event,
		       "tags (!name) are not allowed; quote a value that starts with '!'");
}

static struct yaml_node *new_node(const yaml_event_t *event, enum yaml_kind kind)
{
	struct yaml_node *node = mem_zero(sizeof *node);

	node->kind = kind;
	node->at = position(&event->start_mark);
	return node;
}

static void add_item(struct yaml_node *parent, struct yaml_node *item)
{
	parent->items = mem_extend(parent->items, parent->count, sizeof(void *));
	parent->items[parent->count++] = item;
}

static struct yaml_node *read_scalar(struct reader *reader, const yaml_event_t *event)
{
	struct yaml_node *node = new_node(event, YAML_SCALAR);
	const char *value = (const char *)event->data.scalar.value;

	refuse_decoration(reader, event, event->data.scalar.anchor, event->data.scalar.tag);
	if (strlen(value) != event->data.scalar.length)
		refuse(reader, event, "a NUL character in a value");
	node->text = mem_dup(value);
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return node;
}

static struct yaml_node *read_node(struct reader *reader, yaml_event_t *event, unsigned int depth);

static void read_items(struct reader *reader, struct yaml_node *list, unsigned int depth)
{
	yaml_event_t event;

	while (next(reader, &event)) {
		bool end = event.type == YAML_SEQUENCE_END_EVENT;
		struct yaml_node *item = end ? NULL : read_node(reader, &event, depth + 1);

		yaml_event_delete(&event);
		if (item)
			add_item(list, item);
		if (end)
			return;
	}
}

static void check_key(struct reader *reader, const struct yaml_node *map,
		      const struct yaml_node *key)
{
	if (key->kind != YAML_SCALAR) {
		problem_add(reader->problems, reader->file, key->at, "a key must be a word, not %s",
			    yaml_kind_name(key->kind));
		return;
	}
	if (strcmp(key->text, "<<") == 0 && !key->quoted)
		problem_add(reader->problems, reader->file, key->at,
			    "merge keys (<<) are not allowed; write the values out");
	if (!*key->text)
		problem_add(reader->problems, reader->file, key->at,
			    "a key is missing before the colon");
	for (size_t i = 0; i < map->count; i++)
		if (map->items[i]->key && strcmp(map->items[i]->key, key->text) == 0)
			problem_add(reader->problems, reader->file, key->at,
				    "'%.200s' is set twice; the first is on line %u", key->text,
				    map->items[i]->key_at.line);
}

static void read_pairs(struct reader *reader, struct yaml_node *map, unsigned int depth)
{
	struct yaml_node *key = NULL;
	yaml_event_t event;
	bool end = false;

	while (!end && next(reader, &event)) {
		end = event.type == YAML_MAPPING_END_EVENT;

		struct yaml_node *node = end ? NULL : read_node(reader, &event, depth + 1);

		yaml_event_delete(&event);
		if (node && !key) {
			key = node;
			check_key(reader, map, key);
		} else if (node) {
			node->key_at = key->at;
			node->key = key->text;
			key->text = NULL;
			yaml_tree_free(key);
			key = NULL;
			add_item(map, node);
		}
	}
	yaml_tree_free(key);
}

/* Reads the node that starts with this event. Returns NULL if parsing stops. */
static struct yaml_node *read_node(struct reader *reader, yaml_event_t *event, unsigned int depth)
{
	struct yaml_node *node;

	if (++reader->nodes > YAML_MOST_NODES || depth > YAML_MOST_DEPTH) {
		problem_add(reader->problems, reader->file, position(&event->start_mark),
			    depth > YAML_MOST_DEPTH ? "nested deeper than %d levels"
						    : "more than %d values",
			    depth > YAML_MOST_DEPTH ? (int)YAML_MOST_DEPTH : (int)YAML_MOST_NODES);
		reader->stop = true;
		return NULL;
	}
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return read_scalar(reader, event);
	case YAML_SEQUENCE_START_EVENT:
		refuse_decoration(reader, event, event->data.sequence_start.anchor,
				  event->data.sequence_start.tag);
		node = new_node(event, YAML_LIST);
		read_items(reader, node, depth);
		return node;
	case YAML_MAPPING_START_EVENT:
		refuse_decoration(reader, event, event->data.mapping_start.anchor,
				  event->data.mapping_start.tag);
		node = new_node(event, YAML_MAP);
		read_pairs(reader, node, depth);
		return node;
	case YAML_ALIAS_EVENT:
		refuse(reader, event,
		       "aliases (*name) are not allowed; quote a value that starts with '*'");
		node = new_node(event, YAML_SCALAR);
		node->text = mem_dup("");
		node->quoted = true;
		return node;
	default:
		reader->stop = true;
		return NULL;
	}
}

static void check_document(struct reader *reader, const yaml_event_t *event)
{
	if (event->data.document_start.version_directive ||
	    event->data.document_start.tag_directives.start !=
		    event->data.document_start.tag_directives.end)
		refuse(reader, event, "directives (%) are not allowed");
}

/* Reads the only document of the stream. */
static struct yaml_node *read_stream(struct reader *reader)
{
	struct yaml_node *root = NULL;
	unsigned int documents = 0;
	bool end = false;
	yaml_event_t event;

	while (!end && next(reader, &event)) {
		switch (event.type) {
		case YAML_DOCUMENT_START_EVENT:
			check_document(reader, &event);
			if (++documents > 1) {
				refuse(reader, &event,
				       "a second document; a configuration must be one document");
				reader->stop = true;
			}
			break;
		case YAML_SCALAR_EVENT:
		case YAML_SEQUENCE_START_EVENT:
		case YAML_MAPPING_START_EVENT:
		case YAML_ALIAS_EVENT:
			root = read_node(reader, &event, 1);
			break;
		case YAML_STREAM_END_EVENT:
			end = true;
			break;
		default:
			break;
		}
		yaml_event_delete(&event);
	}
	return root;
}

int yaml_tree_read(const char *file, const char *text, size_t size, struct yaml_node **ret_root,
		   struct list *problems)
{
	static const char mark[] = "\xef\xbb\xbf"; /* some editors write a byte order mark */
	struct reader reader = { .file = file, .problems = problems };
	size_t before = problems->count;
	struct yaml_node *root;

	if (size > YAML_MOST_BYTES) {
		problem_add(problems, file, (struct problem_position){ 1, 1 },
			    "larger than the maximum of %d bytes", (int)YAML_MOST_BYTES);
		return -1;
	}
	if (size >= 3 && memcmp(text, mark, 3) == 0) {
		text += 3;
		size -= 3;
	}
	if (check_bytes(&reader, text, size) < 0)
		return -1;
	if (!yaml_parser_initialize(&reader.parser))
		abort();
	yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, size);
	root = read_stream(&reader);
	yaml_parser_delete(&reader.parser);
	if (root && root->kind == YAML_SCALAR && !root->quoted && !*root->text) {
		yaml_tree_free(root);
		root = NULL;
	}
	if (problems->count > before || reader.stop) {
		yaml_tree_free(root);
		return -1;
	}
	*ret_root = root;
	return 0;
}
