/* Places in JSON: see worklist_place.h. */
#include "worklist/worklist_place.h"

#include <string.h>

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Returns the end of a string, which begins at its quote. */
static const char *skip_string(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

/* Returns the end of a value. */
static const char *skip_value(const char *at)
{
	size_t depth = 0;

	do {
		if (*at == '"') {
			at = skip_string(at);
			continue;
		}
		if (*at == '{' || *at == '[')
			depth++;
		else if ((*at == '}' || *at == ']') && depth)
			depth--;
		else if (!depth && strchr(",]}", *at))
			return at;
		if (!*at)
			return at;
		at++;
		if (!depth && strchr("}]", at[-1]))
			return at;
	} while (*at && (depth || !strchr(" \t\r\n,]}", *at)));
	return at;
}

static struct worklist_place place_of(const char *text, const char *begin, const char *end)
{
	return (struct worklist_place){ (size_t)(begin - text), (size_t)(end - begin) };
}

struct worklist_place worklist_place_whole(const char *text)
{
	const char *at = skip_blanks(text + (strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0));

	return place_of(text, at, skip_value(at));
}

bool worklist_place_member(const char *text, const struct worklist_place *object, const char *key,
			   struct worklist_place *ret_value)
{
	const char *at = text + object->at;
	size_t size = strlen(key);
	bool found = false;

	if (*at != '{')
		return false;
	for (at = skip_blanks(at + 1); *at == '"'; at = skip_blanks(at)) {
		const char *name = at + 1;
		const char *end = skip_string(at);

		at = skip_blanks(end);
		if (*at != ':')
			return found;
		at = skip_blanks(at + 1);

		const char *after = skip_value(at);

		if ((size_t)(end - name) == size + 1 && memcmp(name, key, size) == 0) {
			*ret_value = place_of(text, at, after);
			found = true;
		}
		at = skip_blanks(after);
		if (*at == ',')
			at++;
	}
	return found;
}

struct worklist_place_walk worklist_place_begin(const char *text,
						const struct worklist_place *array)
{
	const char *at = text + array->at;

	return (struct worklist_place_walk){ .text = text,
					     .at = *at == '[' ? skip_blanks(at + 1)
							      : at + strlen(at),
					     .counted = text,
					     .line = 1 };
}

bool worklist_place_next(struct worklist_place_walk *walk, struct worklist_place *ret_value,
			 size_t *ret_line)
{
	const char *after;

	if (!*walk->at || *walk->at == ']')
		return false;
	for (; walk->counted < walk->at; walk->counted++)
		walk->line += *walk->counted == '\n';
	after = skip_value(walk->at);
	*ret_value = place_of(walk->text, walk->at, after);
	*ret_line = walk->line;
	walk->at = skip_blanks(after);
	if (*walk->at == ',')
		walk->at = skip_blanks(walk->at + 1);
	return true;
}
