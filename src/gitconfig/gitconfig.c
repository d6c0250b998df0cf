/* Parser for git configuration files: see gitconfig.h. */
#include "gitconfig/gitconfig.h"

#include "util/buffer.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Far longer than real ones. */
enum { MOST_NAME = 4096, MOST_VALUE = 1 << 20 };

struct reader {
	const char *at, *end;
	struct buffer section, subsection, key, value;
	bool has_subsection;
};

static bool more(const struct reader *reader)
{
	return reader->at < reader->end;
}

static void skip_line(struct reader *reader)
{
	while (more(reader) && *reader->at != '\n')
		reader->at++;
}

/* Both "\n" and "\r\n" end a line; elsewhere "\r" is a blank. */
static bool at_line_end(const struct reader *reader)
{
	if (!more(reader) || *reader->at == '\n')
		return true;
	return reader->end - reader->at > 1 && reader->at[0] == '\r' && reader->at[1] == '\n';
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

static void skip_blanks(struct reader *reader)
{
	while (more(reader) && is_blank(*reader->at))
		reader->at++;
}

static void clear(struct buffer *buffer)
{
	buffer->used = 0;
}

static void add_lower(struct buffer *buffer, char byte)
{
	char lower = (char)tolower((unsigned char)byte);

	buffer_add(buffer, &lower, 1);
}

static int read_quoted_subsection(struct reader *reader)
{
	while (more(reader) && *reader->at != '"') {
		if (*reader->at == '\\')
			reader->at++;
		if (!more(reader) || *reader->at == '\n')
			return -1;
		buffer_add(&reader->subsection, reader->at++, 1);
	}
	if (reader->end - reader->at < 2 || reader->at[1] != ']')
		return -1;
	reader->at += 2;
	return 0;
}

/* Reads a section header, starting after the '['. */
static int read_section(struct reader *reader)
{
	clear(&reader->section);
	clear(&reader->subsection);
	reader->has_subsection = false;
	for (; more(reader); reader->at++) {
		char byte = *reader->at;

		if (byte == ']') {
			reader->at++;
			return reader->section.used || reader->has_subsection ? 0 : -1;
		}
		if (is_blank(byte)) {
			skip_blanks(reader);
			if (!more(reader) || *reader->at++ != '"')
				return -1;
			if (reader->has_subsection) /* [a.b "c"] is [a "b.c"] */
				buffer_add(&reader->subsection, ".", 1);
			reader->has_subsection = true;
			return read_quoted_subsection(reader);
		}
		if (byte == '.' && !reader->has_subsection) {
			reader->has_subsection = true;
			continue;
		}
		if (!isalnum((unsigned char)byte) && byte != '-' && byte != '.')
			return -1;
		add_lower(reader->has_subsection ? &reader->subsection : &reader->section, byte);
	}
	return -1;
}

static int read_escape(struct reader *reader)
{
	static const char known[] = "ntb\"\\";
	static const char meant[] = "\n\t\b\"\\";
	const char *found;

	if (at_line_end(reader)) { /* the value continues on the next line */
		skip_line(reader);
		reader->at += more(reader);
		return 0;
	}
	found = *reader->at ? strchr(known, *reader->at) : NULL;
	if (!found)
		return -1;
	buffer_add(&reader->value, &meant[found - known], 1);
	reader->at++;
	return 0;
}

/* Reads a value, starting after the '=' and blanks. Drops trailing blanks unless they are
 * quoted. */
static int read_value(struct reader *reader)
{
	size_t kept = 0;
	bool quoted = false;

	clear(&reader->value);
	while (!at_line_end(reader)) {
		char byte = *reader->at++;

		if (byte == '"') {
			quoted = !quoted;
			kept = reader->value.used;
		} else if (byte == '\\') {
			if (read_escape(reader) < 0)
				return -1;
			kept = reader->value.used;
		} else if (!quoted && (byte == '#' || byte == ';')) {
			skip_line(reader);
		} else {
			buffer_add(&reader->value, &byte, 1);
			if (quoted || !is_blank(byte))
				kept = reader->value.used;
		}
	}
	reader->value.used = kept < reader->value.used ? kept : reader->value.used;
	return quoted ? -1 : 0;
}

static int read_entry(struct reader *reader, gitconfig_fn *found, void *context)
{
	struct gitconfig_entry entry;

	clear(&reader->key);
	clear(&reader->value);
	if (!isalpha((unsigned char)*reader->at))
		return -1;
	while (more(reader) && (isalnum((unsigned char)*reader->at) || *reader->at == '-'))
		add_lower(&reader->key, *reader->at++);
	/* Like git, accepts neither "\r" here nor a comment after a key without a value. */
	while (more(reader) && (*reader->at == ' ' || *reader->at == '\t'))
		reader->at++;
	if (at_line_end(reader)) {
		skip_line(reader);
		buffer_add_text(&reader->value, "true");
	} else if (*reader->at == '=') {
		reader->at++;
		skip_blanks(reader);
		if (read_value(reader) < 0)
			return -1;
	} else {
		return -1;
	}
	if (buffer_overflowed(&reader->section) || buffer_overflowed(&reader->subsection) ||
	    buffer_overflowed(&reader->key) || buffer_overflowed(&reader->value))
		return -1;
	entry = (struct gitconfig_entry){
		.section = buffer_text(&reader->section),
		.subsection = reader->has_subsection ? buffer_text(&reader->subsection) : NULL,
		.key = buffer_text(&reader->key),
		.value = buffer_text(&reader->value),
	};
	return found(context, &entry);
}

int gitconfig_each(const char *bytes, size_t size, gitconfig_fn *found, void *context)
{
	struct reader reader = { .at = bytes,
				 .end = bytes + size,
				 .section = BUFFER_INIT(MOST_NAME),
				 .subsection = BUFFER_INIT(MOST_NAME),
				 .key = BUFFER_INIT(MOST_NAME),
				 .value = BUFFER_INIT(MOST_VALUE) };
	int result = 0;

	if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		reader.at += 3;
	while (more(&reader) && result == 0) {
		char byte = *reader.at;

		if (byte == '#' || byte == ';')
			skip_line(&reader);
		else if (isspace((unsigned char)byte))
			reader.at++;
		else if (byte == '[') {
			reader.at++;
			result = read_section(&reader);
		} else
			result = read_entry(&reader, found, context);
	}
	buffer_release(&reader.section);
	buffer_release(&reader.subsection);
	buffer_release(&reader.key);
	buffer_release(&reader.value);
	return result;
}
