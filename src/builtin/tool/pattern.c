/* Translates regular expressions: see pattern.h. */
#include "builtin/tool/pattern.h"

#include <string.h>

/* In a bracket expression, regcomp() treats a backslash literally. */
static const char *class_escape(const char *at, struct buffer *out)
{
	static const struct {
		char letter;
		const char *meaning;
	} known[] = {
		{ 'd', "0-9" },   { 'w', "[:alnum:]_" }, { 's', "[:space:]" }, { 't', "\t" },
		{ ']', "[.].]" }, { '-', "[.-.]" },      { '^', "[.^.]" },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].letter == at[1]) {
			buffer_add_text(out, known[i].meaning);
			return at + 2;
		}
	buffer_add(out, at + 1, 1);
	return at + 2;
}

/*
 * Translates a bracket expression. `at` is after the opening bracket; returns the position after
 * the closing one.
 */
static const char *add_class(const char *at, struct buffer *out)
{
	buffer_add_text(out, "[");
	if (*at == '^')
		buffer_add(out, at++, 1);
	if (*at == ']')
		buffer_add(out, at++, 1); /* a leading ] is literal */
	while (*at && *at != ']') {
		const char *name = at[0] == '[' && at[1] && strchr(":.=", at[1])
					   ? strstr(at + 2, (const char[]){ at[1], ']', '\0' })
					   : NULL;

		if (name) {
			buffer_add(out, at, (size_t)(name + 2 - at));
			at = name + 2;
		} else if (at[0] == '\\' && at[1]) {
			at = class_escape(at, out);
		} else {
			buffer_add(out, at++, 1);
		}
	}
	if (*at)
		buffer_add(out, at++, 1);
	return at;
}

static const char *add_escape(const char *at, struct buffer *out)
{
	static const char digits[] = "[0-9]";
	static const char others[] = "[^0-9]";

	if (at[1] == 'd' || at[1] == 'D')
		buffer_add_text(out, at[1] == 'd' ? digits : others);
	else if (at[1] == 't')
		buffer_add_text(out, "\t");
	else
		buffer_add(out, at, 2);
	return at + 2;
}

/* Returns the length of "{2}", "{2,}" or "{2,3}"; 0 if there is none. */
static size_t count_size(const char *at)
{
	size_t digits = strspn(at + 1, "0123456789");
	size_t size = 1 + digits;

	if (digits && at[size] == ',')
		size += 1 + strspn(at + size + 1, "0123456789");
	return digits && at[size] == '}' ? size + 1 : 0;
}

/*
 * Copies a quantifier. A "?" after it (lazy matching) is dropped: it does not affect whether a line
 * matches.
 */
static const char *add_count(const char *at, size_t size, struct buffer *out)
{
	buffer_add(out, at, size);
	return at + size + (at[size] == '?');
}

void pattern_translate(const char *pattern, struct buffer *out)
{
	for (const char *at = pattern; *at;) {
		size_t size = *at == '{' ? count_size(at) : 0;

		if (at[0] == '\\' && at[1]) {
			at = add_escape(at, out);
		} else if (*at == '[') {
			at = add_class(at + 1, out);
		} else if (strncmp(at, "(?:", 3) == 0) {
			buffer_add_text(out, "(");
			at += 3;
		} else if (*at == '{' && (size == 0 || at == pattern)) {
			buffer_add_text(out, "\\{");
			at++;
		} else if (size || strchr("*+?", *at)) {
			at = add_count(at, size ? size : 1, out);
		} else {
			buffer_add(out, at++, 1);
		}
	}
}
