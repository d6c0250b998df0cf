/* The formats, and patterns of types: see schema.h. */
#include "meter/schema.h"

#include <string.h>
#include <strings.h>

const struct schema *schema_of(enum usage_format format)
{
	static const struct schema *const all[USAGE_FORMATS] = {
		[USAGE_ANTHROPIC] = &schema_anthropic,
		[USAGE_CHAT] = &schema_chat,
		[USAGE_RESPONSES] = &schema_responses,
		[USAGE_GEMINI] = &schema_gemini,
	};

	return all[format];
}

static bool matches(const char *pattern, size_t size, const char *word)
{
	char last = size > 0 ? pattern[size - 1] : '\0';
	size_t start = last == '*' || last == '#' ? size - 1 : size;

	if (strncasecmp(pattern, word, start) != 0)
		return false;
	word += start;
	return last == '*' || (last == '#' ? *word && !word[strspn(word, "0123456789_")] : !*word);
}

bool schema_matches(const char *patterns, const char *word)
{
	while (patterns && *patterns) {
		size_t size = strcspn(patterns, " ");

		if (matches(patterns, size, word))
			return true;
		patterns += size + (patterns[size] == ' ');
	}
	return false;
}

bool schema_lists(const char *words, const char *word)
{
	size_t size = strlen(word);

	while (words && *words) {
		size_t length = strcspn(words, " ");

		if (length == size && memcmp(words, word, size) == 0)
			return true;
		words += length + (words[length] == ' ');
	}
	return false;
}
